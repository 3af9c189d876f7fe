/* What is asked for before the page's script has come. A link that preloads would not do: WebKit
   fetches a second time what is still on its way. */

/** Ask for what will be fetched later. */
export const askEarly = (address: string): void => {
  const early = (window.__explorerData!.early ??= {});
  early[address] = fetch(address);
  early[address].catch(() => undefined); // then it is fetched once more
};

/** The answer from an address, once; it may be on its way. */
export const fetchOnce = (address: string): Promise<Response> => {
  const early = window.__explorerData?.early ?? {};
  const answer = early[address];
  delete early[address];
  return answer ? answer.catch(() => fetch(address)) : fetch(address);
};
