/* What the page's scripts may call. */

/** An offline page holds its own translation: no server, nothing but this document. */
const mountOffline = async () => {
  const element = document.getElementById("explorer"), x = new Explorer(element);
  window.__explorer = x;
  mountChrome(document.getElementById("page-chrome"));
  x.wanted = readPermalink(location.hash);
  x.show(window.__payload);
};

window.AttentionExplorer = {
  explorer: mountExplorer, chrome: mountChrome, plot: mountPlot, compare: mountCompare, copy: copyText, offline: mountOffline,
  asked: (run, ...values) => [mountExplorer.run(), ...values],
  // The page's own load may come before the component is there: wait for it, or the address would be forgotten.
  opened: async (...current) => {
    while (!mountExplorer.opened) await new Promise(done => setTimeout(done, 50));
    return mountExplorer.opened(current);
  },
  go: () => { whenIdle(() => endLoadingClock()); return mountExplorer.go(); },
};

loadPlotly();
