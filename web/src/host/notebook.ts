/* A notebook's cell: asks its kernel once for the explorer, however many cells there are, and ties
   it to the widget. */

import type { Theme } from "../dom/screen";
import type { Language } from "../i18n/language";
import { KINDS, type Kind, type Parts, type Place, type TracePayload } from "../protocol/messages";
import type { Answer, ExplorerServer, FileAnswer } from "../protocol/server";
import type * as Mounts from "./mount";

/** What a widget's model offers, of all that anywidget's has. */
export interface Model {
  get(name: string): any;
  set(name: string, value: unknown): void;
  save_changes(): void;
  send(content: unknown): void;
  on(event: string, listener: (...values: any[]) => void): void;
  off(event: string, listener: (...values: any[]) => void): void;
}

interface Library {
  embed: typeof Mounts;
  tables: Record<string, Record<string, string>>;
}

const PATIENCE = 20_000; // ms until a kernel that says nothing is taken for gone
const STATE = ["kind", "layer", "head", "step", "cell"] as const;

/** Of every version of the explorer that is on this page, its scripts. */
const libraries = ((globalThis as any).__attentionExplorers ??= new Map()) as Map<
  string,
  Promise<Library>
>;
let questions = 0;

const inflated = async (packed: DataView | ArrayBuffer): Promise<Blob> => {
  const stream = new Blob([packed as BlobPart])
    .stream()
    .pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).blob();
};
const text = async (packed: DataView): Promise<string> => (await inflated(packed)).text();
const json = async (packed: DataView) => JSON.parse(await text(packed));

/**
 * What the kernel sends for a question, of which `details` say more; refused after a while of
 * silence.
 */
const ask = (model: Model, name: string, details: object = {}): Promise<DataView[]> =>
  new Promise((resolve, reject) => {
    const number = `${Date.now()}-${++questions}`;
    const end = () => {
      clearTimeout(timer);
      model.off("msg:custom", heard);
    };
    const heard = (content: { answer?: string }, buffers: DataView[]) => {
      if (content.answer !== number) return;
      end();
      resolve(buffers);
    };
    const timer = setTimeout(() => {
      end();
      reject(new Error("the kernel does not answer"));
    }, PATIENCE);
    model.on("msg:custom", heard);
    try {
      model.send({ ask: name, number, ...details });
    } catch (error) {
      end();
      reject(error as Error);
    }
  });

/**
 * Run plotly.js where no loader of modules is seen: notebooks have some, which would keep it from
 * the page.
 */
const run = async (packed: DataView): Promise<void> => {
  const markup = `(function (define, module, exports) {${await text(packed)}
window.Plotly = Plotly;}).call(window);`;
  const script = document.createElement("script");
  script.src = URL.createObjectURL(new Blob([markup], { type: "text/javascript" }));
  await new Promise((resolve, reject) => {
    script.onload = resolve;
    script.onerror = reject;
    document.head.append(script);
  });
  URL.revokeObjectURL(script.src);
  script.remove();
};

const brought = async (model: Model): Promise<Library> => {
  const [script, plotly, words] = await ask(model, "bundle");
  if (!window.Plotly) await run(plotly);
  const address = URL.createObjectURL(new Blob([await text(script)], { type: "text/javascript" }));
  const embed = await import(/* webpackIgnore: true */ address);
  URL.revokeObjectURL(address);
  return { embed, tables: await json(words) };
};

const library = (model: Model): Promise<Library> => {
  const version = model.get("_version") as string;
  const known = libraries.get(version) ?? brought(model);
  libraries.set(version, known);
  known.catch(() => libraries.delete(version));
  return known;
};

/** The notebook's own theme: JupyterLab and VS Code say it on the body, Colab on the root. */
const surrounding = (): Theme => {
  const { body, documentElement: root } = document;
  if (body.dataset.jpThemeLight) return body.dataset.jpThemeLight === "false" ? "dark" : "light";
  if (/vscode-(dark|light|high)/.test(body.className))
    return /vscode-(dark|high-contrast(?!-light))/.test(body.className) ? "dark" : "light";
  if (root.getAttribute("theme")) return root.getAttribute("theme") === "dark" ? "dark" : "light";
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
};
const themeOf = (model: Model): Theme => {
  const said = model.get("theme");
  return said === "auto" ? surrounding() : said;
};
const languageOf = (model: Model): Language | undefined => {
  const said = model.get("language");
  return said === "auto" ? undefined : said;
};

const bytes = async (packed: DataView): Promise<Uint8Array> =>
  new Uint8Array(await (await inflated(packed)).arrayBuffer());

/** The maps of some heads of one of the widget's traces. */
const mapsOf = async (model: Model, trace: number, kind: Kind, places: readonly Place[]) =>
  bytes((await ask(model, "maps", { trace, kind, places }))[0]);

/** Exact arrays, maps and files, from the kernel. */
const serverOf = (model: Model): ExplorerServer => {
  const file = async (name: string, type: string): Promise<Answer<FileAnswer>> => {
    const [packed] = await ask(model, name);
    const whole = await bytes(packed);
    let binary = "";
    for (let at = 0; at < whole.length; at += 32768)
      binary += String.fromCharCode(...whole.subarray(at, at + 32768));
    return { base64: btoa(binary), type };
  };
  return {
    unlinked: true,
    inspect: () => Promise.reject(new Error("nothing is typed here")),
    resume: () => Promise.reject(new Error("nothing is decoded here")),
    ready: () => Promise.resolve({ state: "ready" }),
    maps: (kind, places) => mapsOf(model, 0, kind, places),
    exact: async () => json((await ask(model, "exact"))[0]),
    npz: () => file("npz", "application/octet-stream"),
    offline: () => file("offline", "text/html"),
  };
};

type Shown = {
  kind: string;
  layer: number;
  head: number;
  step: number;
  query?: number;
  cell?: any;
};

/** The widget's state from what is shown; its step is the row, whichever token that is. */
const stateOf = ({ kind, layer, head, step, query, cell }: Shown) => ({
  kind,
  layer,
  head,
  step: kind === "encoder" && query !== undefined ? query : step,
  cell: cell ?? null,
});

/** What is shown from the widget's state. */
const viewOf = (model: Model, single: boolean): any => {
  const [kind, layer, head, step, cell] = STATE.map((name) => model.get(name));
  if (!single) return { kind, layer, head, step };
  return { kind, layer, head, ...(kind === "encoder" ? { query: step } : { step }), cell };
};

/** Keep what is shown and the widget's state alike; the answer ends that. */
const tie = (model: Model, handle: { pick(view: any): void }, single: boolean) => {
  let waiting = 0;
  let telling = false;
  const changed = () => {
    if (telling || waiting) return;
    waiting = requestAnimationFrame(() => {
      waiting = 0;
      handle.pick(viewOf(model, single));
    });
  };
  for (const name of STATE) model.on(`change:${name}`, changed);
  return {
    /** Tell the kernel what was chosen here. */
    tell: (pick: Shown) => {
      if (waiting) return; // what the kernel said last is not shown yet
      const next: Record<string, unknown> = stateOf(pick);
      const names = STATE.filter((name) => single || name !== "cell").filter(
        (name) => JSON.stringify(model.get(name) ?? null) !== JSON.stringify(next[name]),
      );
      if (!names.length) return;
      telling = true;
      for (const name of names) model.set(name, next[name]);
      telling = false;
      model.save_changes();
    },
    end: () => {
      cancelAnimationFrame(waiting);
      for (const name of STATE) model.off(`change:${name}`, changed);
    },
  };
};

/**
 * A kind's maps as the kernel sends them: all of them, or some and small pictures of the others.
 */
type SentParts = { heads: [number, number, DataView][]; small?: DataView; pool?: number };
type SentMaps = Record<string, DataView | SentParts>;

const partsOf = async ({ heads, small, pool }: SentParts): Promise<Parts> => {
  const maps = heads.map(async ([layer, head, map]) => [layer, head, await bytes(map)] as const);
  return {
    heads: (await Promise.all(maps)) as Parts["heads"],
    ...(small ? { small: await bytes(small), pool } : {}),
  };
};

/**
 * A trace as the kernel sends it: its maps as bytes beside it, since base64 would make them larger.
 */
const traceOf = async (packed: DataView, maps: SentMaps): Promise<TracePayload> => {
  const payload = (await json(packed)) as TracePayload;
  const kinds = KINDS.filter((kind) => kind in maps);
  const each = async <T>(read: (sent: never) => Promise<T>): Promise<Record<Kind, T>> =>
    Object.fromEntries(
      await Promise.all(kinds.map(async (kind) => [kind, await read(maps[kind] as never)])),
    );
  if ("heads" in maps[kinds[0]]) return { ...payload, parts: await each(partsOf) };
  return { ...payload, weights: await each(bytes) };
};

const mountIn = async (model: Model, element: HTMLElement): Promise<() => void> => {
  const { embed, tables } = await library(model);
  const maps = model.get("_maps") as SentMaps[];
  const traces: TracePayload[] = await Promise.all(
    model.get("_traces").map((packed: DataView, at: number) => traceOf(packed, maps[at])),
  );
  const single = traces.length === 1;
  const page = { theme: themeOf(model), language: languageOf(model), tables };
  let tied: ReturnType<typeof tie> | null = null;
  const onPick = (pick: Shown) => tied?.tell(pick);
  const handle = single
    ? embed.mount(element, { ...page, trace: traces[0], server: serverOf(model), onPick })
    : embed.mountComparison(element, {
        ...page,
        traces: [traces[0], traces[1]],
        maps: (side, kind, places) => mapsOf(model, side === "a" ? 0 : 1, kind, places),
        distances: await json(model.get("_distances")),
        onPick,
      });
  handle.pick(viewOf(model, single));
  tied = tie(model, handle, single);
  const theme = () => handle.setTheme(themeOf(model));
  const language = () => handle.setLanguage(languageOf(model) ?? null!);
  model.on("change:theme", theme);
  model.on("change:language", language);
  const watcher = new MutationObserver(theme);
  for (const node of [document.body, document.documentElement])
    watcher.observe(node, { attributeFilter: ["data-jp-theme-light", "class", "theme"] });
  return () => {
    watcher.disconnect();
    model.off("change:theme", theme);
    model.off("change:language", language);
    tied.end();
    handle.destroy();
  };
};

/** The picture, where no kernel brings the explorer: a notebook that was saved with its widgets. */
const still = async (model: Model, element: HTMLElement): Promise<void> => {
  const image = document.createElement("img");
  const markup = await text(model.get("_picture"));
  image.src = URL.createObjectURL(new Blob([markup], { type: "image/svg+xml" }));
  image.style.maxWidth = "100%";
  element.replaceChildren(image);
};

export const render = async ({ model, el }: { model: Model; el: HTMLElement }) => {
  el.dataset.lmSuppressShortcuts = "true"; // arrows are the explorer's, not the notebook's
  try {
    return await mountIn(model, el);
  } catch (error) {
    console.warn("attention-explorer:", error);
    await still(model, el);
    return () => {};
  }
};
