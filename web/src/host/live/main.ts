/* The page that needs no server: the explorer, Compare and the lab over a worker of this page's
   own. */

import { copyText } from "../../dom/clipboard";
import { el } from "../../dom/element";
import { recall } from "../../dom/storage";
import { plant } from "../../dom/template";
import { fetchWords, pageLanguage } from "../../i18n/language";
import { t } from "../../i18n/words";
import { ANSWERED } from "../../live/calls";
import { CACHE } from "../../live/store";
import { afterSketch, bringPlotly, whenSketched } from "../../plot/plotly";
import type { LabServer } from "../../protocol/lab";
import type { ExplorerServer } from "../../protocol/server";
import { answersOnly, askLab } from "../../state/ask";
import { readLabLink } from "../../state/lab-link";
import { mountChrome } from "../../tabs/chrome/chrome";
import { mountLab } from "../../tabs/lab/lab";
import { firstExample, pageData } from "../../tabs/page";
import { plainTrace } from "../../trace/plain";
import { entry as gradioEntry } from "../gradio/entry";
import { mountExplorer } from "../gradio/explorer";
import {
  direction,
  dressFields,
  field as anyField,
  offers,
  pageSettled,
  setDirection,
  setField,
} from "../gradio/fields";
import { followPositions } from "../gradio/positions-link";
import { fetchAhead } from "../gradio/stored";
import { followTab } from "../gradio/tab-link";
import { mountAbout } from "./about";
import { channel } from "./channel";
import { CANNOT, canCompute, Client } from "./client";
import { mountLiveCompare } from "./compare";
import { chosenSettings, directions, fillSettings, settingsForm, settingValues } from "./form";
import markup from "./page.html";
import { mountPositions } from "./positions";
import { liveServer } from "./server";
import { linked, offerOf, opensWith, site } from "./site";
import { mountTabs } from "./tabs";
import { translateHere } from "./translating";
import { Weights } from "./weights";

/** What the explorer gives to the page around it. */
const entry = gradioEntry as Required<{
  [Name in keyof typeof gradioEntry]: NonNullable<(typeof gradioEntry)[Name]>;
}>;
const field = (id: string) => anyField(id) as HTMLTextAreaElement | null;

const fields = { field, setField, direction, setDirection, offers, settled: pageSettled };

/** Translate what the fields hold, whenever the button is pressed; `tell` tells the explorer. */
const translating = (client: Client, weights: Weights, tell: (message: object) => void): void => {
  let stopper = new AbortController();
  const translate = async () => {
    stopper.abort();
    stopper = new AbortController();
    const wanted = {
      run: entry.run(),
      direction: direction(),
      text: field("source-text")?.value ?? "",
      settings: chosenSettings(),
    };
    // bytes are told above
    const follows = () => t("The translation follows as soon as the model is here.");
    await translateHere(client, weights, wanted, stopper.signal, tell, follows);
  };
  document.querySelector("#translate")!.addEventListener("click", () => void translate());
  document.querySelector("#stop")!.addEventListener("click", () => stopper.abort());
};

/**
 * Who translated here before finds the model in memory: what is kept is read as soon as the first
 * map is there. Later it would wait for Plotly's first drawing: in WebKit all that a worker asks
 * for goes through the page's thread.
 */
const recallModel = async (client: Client, direction: string): Promise<void> => {
  const sketched = new Promise<void>(whenSketched);
  if (!(await caches.has(CACHE))) return;
  await sketched;
  await client.call("recall", { direction });
};

/** Where this browser cannot compute, what was translated beforehand stays; the page says so. */
const onlyExamples = (): void => {
  for (const id of ["translate", "compare-run"]) {
    const button = document.querySelector<HTMLButtonElement>(`#${id}`);
    if (button) button.disabled = true;
  }
  entry.explorer.notice(t(CANNOT), true);
};

/** The theme is the system's, also when that changes, until the visitor chooses one. */
const followSystem = (): void => {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => {
    if (!recall("theme")) document.body.classList.toggle("dark", system.matches);
  };
  system.addEventListener("change", follow);
  follow();
};

/** Run once, when a tab is opened for the first time. */
const whenFirstShown = (id: string, run: () => void): void =>
  document
    .querySelector(`#tabs [data-tab-id="${id}"]`)!
    .addEventListener("click", run, { once: true });

/** Open the tab that a link is about. */
const follow = (): void => {
  followTab();
  followPositions();
};

/** Put into the fields what the page opens with: text, direction, settings. */
const fill = (values: ReturnType<typeof entry.opened>): void => {
  setField(field("source-text"), values[0]);
  const radio = document.querySelector<HTMLInputElement>(
    `#direction input[value="${CSS.escape(String(values[1]))}"]`,
  );
  if (radio && !radio.checked) radio.click();
  fillSettings(values.slice(2));
};

/** The page's markup and its fields, without what translates. */
const dress = (first: string): void => {
  plant(document.body, markup);
  document.body.dataset.tab = "explorer";
  document.querySelector("#direction")!.append(directions("direction", first));
  settingsForm(document.querySelector("#settings .form")!);
  dressFields();
  answersOnly(ANSWERED);
  followSystem();
  mountChrome(document.querySelector("#page-chrome")!);
  mountAbout(document.querySelector("#about")!);
  document.querySelector("#copy")!.addEventListener("click", () => {
    void copyText(field("translation")?.value ?? "");
  });
};

/** How long the page waits for its first example, to be drawn together with it. */
const AHEAD = 60; // ms

const open = async (): Promise<void> => {
  const first = opensWith();
  const { version } = site();
  const client = new Client(`worker.js?v=${version}`, `manifest.json?v=${version}`);
  const computes = canCompute();
  // no caches, or nothing in them: it comes when it is wanted
  if (computes) void recallModel(client, first).catch(() => undefined);
  const opens = firstExample(first);
  const coming = opens && !linked() ? fetchAhead(opens.id) : undefined;
  await fetchWords(pageLanguage());
  await Promise.race([coming, new Promise((done) => setTimeout(done, AHEAD))]);
  dress(first);
  const line = document.querySelector<HTMLElement>("#weights")!;
  // wherever they are waited for
  mountTabs((panel) => panel.querySelector(".weights-place")?.append(line));
  const weights = new Weights(line, client, direction, (name) => offerOf(name)?.size);
  const server = liveServer(client, weights, () => "offline.html") as unknown as ExplorerServer &
    LabServer;
  const { props, watch, tell } = channel();
  mountExplorer(document.querySelector("#explorer")!, props, watch, server);
  bringPlotly(pageData().plotly!, (why) => entry.explorer.notice(why, true));
  if (opens) tell({ kind: "example", id: opens.id });
  else entry.explorer.empty(t("Nothing translated yet."));
  const others = new Promise<void>((done) => {
    const mount = () => {
      mountLiveCompare(client, weights, channel(), fields);
      mountLab(document.querySelector("#lab")!, server, fields);
      done();
    };
    if (location.hash || !opens)
      mount(); // the link may be to one of them; or no map is to come
    else afterSketch(mount);
  });
  const positions = document.querySelector<HTMLElement>("#positions")!;
  whenFirstShown("positions-tab", () => mountPositions(positions, client, weights));
  if (computes) {
    translating(client, weights, tell);
    document.querySelector("#source-text")!.addEventListener("focusin", (event) => {
      if (event.isTrusted) weights.prepare(direction());
    });
  }
  fill(entry.opened([opens?.text ?? "", first, ...settingValues()]));
  await entry.go();
  if (!computes) void others.then(onlyExamples);
  else asked();
  follow();
  addEventListener("hashchange", follow);
  const question = readLabLink(location.hash);
  if (question) askLab(question);
};

/** `?text=` in the address is translated at once. */
const asked = (): void => {
  const text = new URLSearchParams(location.search).get("text");
  if (!text) return;
  setField(field("source-text"), text);
  document.querySelector<HTMLButtonElement>("#translate")!.click();
};

window.AttentionExplorer = {
  copy: copyText,
  /** The translation that is shown, as plain arrays. */
  trace: () => plainTrace(entry.explorer?.trace),
};
void open().catch((error: unknown) => {
  document.body.append(el("p", { class: "notice", text: String(error) }));
  throw error;
});
/** After the first map, the figures and, mostly, the first press. */
const LATER = 3000; // ms
// needs https; it fetches and keeps the whole page, for which nothing that is looked at waits
if ("serviceWorker" in navigator)
  afterSketch(() =>
    setTimeout(() => {
      navigator.serviceWorker.register(`sw.js?v=${site().version}`).catch(() => undefined);
    }, LATER),
  );
