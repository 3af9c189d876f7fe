/* A view of the lab taken away: its pictures, its numbers, a link to it. */

import { copyText } from "../../dom/clipboard";
import { drawing, saveAs } from "../../dom/download";
import { el } from "../../dom/element";
import { t } from "../../i18n/words";
import type { PlotNode } from "../../plot/plotly";
import type { LabAnswer } from "../../protocol/lab";
import type { LabQuestion } from "../../state/ask";
import { labLink } from "../../state/lab-link";
import { csvOfAnswer, jsonOfAnswer } from "./numbers";

type Find = <E extends Element = HTMLElement>(selector: string) => E;
type Picture = "png" | "svg";

const SHOWN = 4000; // ms that an outcome is told

/** Every picture of the answer as it stands, numbered where there are several. */
const savePictures = async (find: Find, name: string, format: Picture): Promise<void> => {
  const plots = [...find(".lab-figures").querySelectorAll<PlotNode>(".plot")];
  for (const [n, plot] of plots.entries()) {
    const size = { format, width: plot.clientWidth, height: plot.clientHeight, scale: 2 };
    const filename = plots.length > 1 ? `${name}-${n + 1}` : name;
    await window.Plotly!.downloadImage(plot, { ...size, filename });
  }
  const ribbons = find(".lab-figures").querySelector<SVGElement>(".lab-ribbons svg");
  if (ribbons) saveAs(`${name}.${format}`, await drawing(ribbons.outerHTML, format));
};

/** The row of buttons; `asked` is what is shown, with its answer. */
export const makeTake = (
  find: Find,
  asked: () => { question: LabQuestion; answer: LabAnswer | undefined },
): { paint: () => void } => {
  const row = find(".lab-take");
  const said = el("span", { class: "cap", role: "status" });
  let timer = 0;
  const tell = (text: string) => {
    said.textContent = text;
    clearTimeout(timer);
    timer = window.setTimeout(() => (said.textContent = ""), SHOWN);
  };
  const take = async (what: string) => {
    const { question, answer = {} } = asked();
    if (what === "link") {
      await copyText(labLink(question));
      return tell(t("Link copied"));
    }
    const name = `lab-${question.view}-${(question.direction ?? "").replace(/[^\w-]+/g, "-")}`;
    if (what === "csv")
      saveAs(`${name}.csv`, new Blob([csvOfAnswer(answer)], { type: "text/csv" }));
    else if (what === "json")
      saveAs(
        `${name}.json`,
        new Blob([jsonOfAnswer(question, answer)], { type: "application/json" }),
      );
    else await savePictures(find, name, what as Picture);
    tell(t("Saved"));
  };
  const button = (what: string, text: string) =>
    el("button", {
      type: "button",
      class: "btn",
      "data-take": what,
      text,
      on: { click: () => void take(what) },
    });
  const paint = () => {
    const { answer } = asked();
    const there = !!answer && !answer.error;
    const pictured = !!answer?.figures?.length || !!answer?.ribbons;
    row.hidden = !there;
    row.replaceChildren(
      el("span", { text: t("Export") }),
      ...(pictured ? [button("png", "PNG"), button("svg", "SVG")] : []),
      ...(answer?.figures?.length || answer?.table ? [button("csv", "CSV")] : []),
      button("json", "JSON"),
      button("link", t("Copy link")),
      said,
    );
  };
  return { paint };
};
