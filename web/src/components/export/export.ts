/* Take it away: pictures and tables made here, exact arrays and the offline page from the
   server. */

import { copyText } from "../../dom/clipboard";
import { drawing, saveAs } from "../../dom/download";
import { el } from "../../dom/element";
import { t, tMessage } from "../../i18n/words";
import { bytesOf } from "../../protocol/decode";
import { type ExplorerServer, refused } from "../../protocol/server";
import type { ExplorerContext } from "../../state/context";
import { permalink } from "../../state/permalink";
import { aggregateHeads, mapOf } from "../../trace/aggregate";
import { csvOf, csvOfCandidates, csvOfHeads, jsonOf, pythonOf } from "../../trace/files";
import { kindName, namedModel } from "../../trace/names";
import { slice } from "../../trace/picture";
import { requestOf } from "../../trace/request";
import { settingsText } from "../../trace/settings";
import { Translation } from "../../trace/translation";
import { finished } from "./caption";
import { mapSvg } from "./figure";
import { arcsSvg, candidatesSvg, mosaicSvg } from "./pictures";
import { withResolution } from "./png";
import { printPage, printable } from "./print";
import { makeSheet } from "./sheet";

type Needs = Pick<
  ExplorerContext,
  | "root"
  | "signal"
  | "enter"
  | "find"
  | "state"
  | "trace"
  | "bring"
  | "picture"
  | "slicing"
  | "headName"
>;

export interface ExportProps {
  /** What gives exact arrays and the offline page; null: there is none. */
  server: ExplorerServer | null;
  /** The arcs as they are shown. */
  arcs: () => SVGSVGElement;
}

type PictureFormat = "png" | "svg" | "pdf";
type Format = PictureFormat | "csv" | "json" | "npz" | "html";

const INCH = 25.4; // millimetres
const SCREEN_DPI = 96; // CSS pixels an inch
const DIGITS = 12; // of a checkpoint's digest
const SHOWN = 4000; // ms that an outcome is told
const safe = (name: string): string => name.replace(/[^\w-]+/g, "-");

/** The name of a file, without its ending. */
const stem = (x: Needs, format: Format, figure: string): string => {
  const { kind, layer, head, view, aggregate, step } = x.state;
  const all = "attention-" + safe(x.trace.checkpoint.name);
  if (["json", "npz", "html"].includes(format)) return all;
  if (figure === "mosaic") return `${all}-${kind}-all`;
  if (figure === "candidates" && format === "csv") return `${all}-candidates`;
  if (figure !== "head") return `${all}-${figure}-${step + 1}`;
  return `${all}-${kind}-${view === "aggregate" ? aggregate : `L${layer + 1}H${head + 1}`}`;
};

/**
 * The translation with 32-bit weights: the server decodes again (the same text gives the same
 * weights); an offline page holds them.
 */
const exact = async (x: Needs, server: ExplorerServer | null): Promise<Translation> => {
  if (x.trace.encoding === "f32") return x.trace;
  if (!server) throw new Error(t("the server is needed for this"));
  const answer = await server.exact(requestOf(x.trace));
  if (refused(answer)) throw new Error(answer.error);
  const found = new Translation(answer);
  found.contributions = x.trace.contributions;
  return found;
};

const csv = async (x: Needs, server: ExplorerServer | null, figure: string): Promise<Blob> => {
  const { state } = x;
  const type = "text/csv";
  if (figure === "candidates") return new Blob([csvOfCandidates(x.trace)], { type });
  const trace = await exact(x, server);
  if (figure === "mosaic") return new Blob([csvOfHeads(trace, state.kind)], { type });
  const picture = slice(trace, state.kind, mapOf(trace, state), x.slicing());
  return new Blob([csvOf(picture, state.kind)], { type });
};

const json = async (x: Needs, server: ExplorerServer | null): Promise<Blob> =>
  new Blob([jsonOf(await exact(x, server))], { type: "application/json" });

const fromServer = async (
  x: Needs,
  server: ExplorerServer | null,
  name: "npz" | "offline",
): Promise<Blob> => {
  if (!server) throw new Error(t("the server is needed for this"));
  const answer = await server[name](requestOf(x.trace));
  if (refused(answer)) throw new Error(answer.error);
  return new Blob([bytesOf(answer.base64)], { type: answer.type });
};

/** Whose line says what it is: model, size, decoding, time. */
const modelLine = (trace: Translation): string => {
  const { kinds, maps, scored, seconds, settings, own, prefix } = trace;
  const { layers, heads } = maps[kinds[kinds.length - 1]];
  const parts = [
    namedModel(trace),
    t("{layers} layers × {heads} heads", { layers, heads }),
    ...(scored ? [settingsText({ settings, own, prefix })] : []),
  ];
  if (seconds !== null && scored) parts.push(`${seconds.toFixed(2)} s`);
  return parts.join(" · ");
};

/** What a figure says of itself: both texts, what is seen, which weights, how it was decoded. */
const captionOf = (x: Needs, figure: string): string[] => {
  const { trace, state } = x;
  const { sha256 } = trace.checkpoint;
  const unit = state.unit === "word" ? t("Words") : t("Subwords");
  const seen = {
    head: [x.headName(), kindName(state.kind), unit, x.find(".scale-name").textContent],
    mosaic: [t("all heads"), kindName(state.kind), x.find(".scale-name").textContent],
    candidates: [t("Candidates"), t("at step {n}", { n: state.step + 1 })],
  }[figure]!;
  const made = [`${namedModel(trace)} (SHA-256 ${sha256.slice(0, DIGITS)})`, settingsText(trace)];
  const hidden = figure === "head" ? x.find(".state-note").textContent : "";
  return [trace.source, trace.translation, seen.join(" · "), made.join(" · "), hidden];
};

export const makeExports = (x: Needs, { server, arcs }: ExportProps): { paint: () => void } => {
  const said = x.find(".export .said");
  const dialog = x.find<HTMLDialogElement>(".snippet");
  const program = dialog.querySelector("pre")!;
  const which = x.find<HTMLSelectElement>(".what");
  const sheet = makeSheet(x);
  let timer = 0;
  const tell = (text: string) => {
    said.textContent = text;
    clearTimeout(timer);
    timer = window.setTimeout(() => (said.textContent = ""), SHOWN);
  };
  x.signal.addEventListener("abort", () => clearTimeout(timer));

  const scaleName = () => x.find(".scale-name").textContent;
  const drawn = async (): Promise<string> => {
    const figure = which.value === "head" ? x.state.view : which.value;
    if (figure === "mosaic") {
      await x.bring(x.state.kind, aggregateHeads(x.trace, x.state, "all"));
      return mosaicSvg(x.trace, x.state, scaleName());
    }
    if (figure === "candidates") return candidatesSvg(x.trace, x.state.step);
    return figure === "arcs" ? arcsSvg(arcs()) : mapSvg(x.picture(), x.state, scaleName());
  };
  /** The picture as it was asked for, with what it says of itself. */
  const picture = async () => {
    const { caption, width, dpi } = sheet.chosen();
    const lines = caption ? captionOf(x, which.value) : [];
    return { ...finished(await drawn(), { lines, width }), width, dpi };
  };
  const pictureFile = async (format: "png" | "svg"): Promise<Blob> => {
    const { svg, pixels, width, dpi } = await picture();
    if (format === "svg") return drawing(svg, "svg");
    const inches = width === null ? pixels / SCREEN_DPI : width / INCH;
    const shown = width === null ? pixels : (width / INCH) * SCREEN_DPI; // as the browser draws it
    return withResolution(await drawing(svg, "png", (inches * dpi) / shown), dpi);
  };
  const pdf = async (name: string) => {
    const { svg, pixels, height, width } = await picture();
    const scale = width === null ? 1 : ((width / INCH) * SCREEN_DPI) / pixels;
    await printPage(printable(svg, name, pixels * scale, height * scale));
  };
  const made = (format: Exclude<Format, "pdf">): Promise<Blob> => {
    if (format === "csv") return csv(x, server, which.value);
    if (format === "json") return json(x, server);
    if (format === "npz") return fromServer(x, server, "npz");
    return format === "html" ? fromServer(x, server, "offline") : pictureFile(format);
  };

  const link = async () => {
    await copyText(permalink(x));
    x.enter();
    tell(t("Link copied"));
  };
  const python = () => {
    program.textContent = pythonOf(x.trace, x.state);
    dialog.showModal();
  };
  const save = async (button: Element, format: Format) => {
    button.setAttribute("aria-busy", "true");
    const name = `${stem(x, format, which.value)}.${format}`;
    if (format === "pdf") await pdf(name);
    else saveAs(name, await made(format));
    x.enter();
    tell(format === "pdf" ? t("Choose “Save as PDF” in the print dialogue") : t("Saved"));
  };
  const take = async (button: HTMLElement) => {
    const what = button.dataset.export!;
    if (!x.trace || x.trace.live) return;
    try {
      if (what === "link") await link();
      else if (what === "python") python();
      else await save(button, what as Format);
    } catch (error) {
      x.enter();
      const reason = error instanceof Error && error.message ? error.message : String(error);
      tell(t("Not saved: {reason}", { reason: tMessage(reason) }));
    } finally {
      button.removeAttribute("aria-busy");
    }
  };
  x.root
    .querySelectorAll<HTMLElement>("[data-export]")
    .forEach((button) => button.addEventListener("click", () => void take(button)));
  dialog.querySelector("[data-close]")!.addEventListener("click", () => dialog.close());
  dialog.querySelector("[data-copy]")!.addEventListener("click", async () => {
    await copyText(program.textContent);
    dialog.close();
  });

  const paint = () => {
    const figure = which.value || "head";
    const figures: [value: string, text: string][] = [
      ["head", t("this figure")],
      ["mosaic", t("all heads")],
      ...(x.trace.scored ? [["candidates", t("candidates")] as [string, string]] : []),
    ];
    which.replaceChildren(...figures.map(([value, text]) => el("option", { value, text })));
    which.value = figure;
    x.find(".export .model").textContent = x.trace.live ? "" : modelLine(x.trace);
    sheet.speak();
    if (x.trace.live) return;
    x.root.querySelectorAll<HTMLElement>(".server-only").forEach((node) => (node.hidden = !server));
    x.find("[data-export=link]").hidden = !server || !!server.unlinked;
    x.find("[data-export=python]").hidden = !x.trace.scored;
  };
  return { paint };
};
