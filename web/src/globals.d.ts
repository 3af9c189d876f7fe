/* What a page says to the bundle, and what the bundle gives to it. */

declare module "*.html" {
  const markup: string;
  export default markup;
}

declare module "virtual:style" {
  const text: string;
  export default text;
}

interface Window {
  AttentionExplorer:
    | import("./main").AttentionExplorer
    | { copy: (text: string) => Promise<void>; trace: () => object | null };
  Plotly?: import("./plot/plotly").PlotlyApi;
  __explorerData?: import("./tabs/page").PageData;
  __explorerLocales?: import("./dom/scene").Tables;
  __payload?: import("./protocol/messages").TracePayload;
}
