/* What stands beside the map: candidates, hypotheses, strongest links. */

import { el, write } from "../../dom/element";
import { phone } from "../../dom/screen";
import { tagOf } from "../../i18n/language";
import { t } from "../../i18n/words";
import type { Hypothesis } from "../../protocol/messages";
import { askAbout, askWhyHere, hasLab, labAnswers } from "../../state/ask";
import type { Changed, ExplorerContext, Part } from "../../state/context";
import { candidatesOf } from "../../trace/candidates";
import { type Group, strongest } from "../../trace/picture";
import type { Translation } from "../../trace/translation";
import { makeCandidates } from "./candidates";
import { makeLinks } from "./links";

type Needs = Pick<ExplorerContext, "find" | "state" | "trace" | "picture" | "rowIndex" | "colours">;

/** What a candidate's click asks of the page: to translate on with it. */
export const RESUME = "explorer-resume";
export interface Resuming {
  /** Ids that the translation begins with, the candidate last. */
  prefix: number[];
  word: string;
}

/** A hypothesis by its end, with its score; `first`: it grew from none. */
const hypothesis = ({ s, lp, n, p, e, w, x: twin }: Hypothesis, first: boolean): HTMLElement => {
  const title = [
    s,
    `log p ${lp.toFixed(2)}`,
    t("after the length penalty {n}", { n: n.toFixed(2) }),
    first ? "" : t("extends hypothesis {n}", { n: p + 1 }),
    e ? `■ ${t("ended")}` : "",
    twin ? t("the same text in other subwords") : "",
  ];
  return el(
    "li",
    { class: w ? "pickd" : "", title: title.filter(Boolean).join("\n") },
    el("span", { class: "t" }, el("bdi", { text: s || "∅" })),
    ...(twin ? [el("small", { class: "cap", text: t("other subwords") })] : []),
    el("span", { class: "p", text: (e ? "■ " : "") + n.toFixed(2).replace("-", "−") }),
  );
};

/** Whether a beam search made it. */
const searched = (trace: Translation): boolean => trace.steps.some((step) => step.b);

export const makeSide = (x: Needs): Part => {
  const list = x.find(".cand");
  const listed = x.find("#candidates");
  const atStep = x.find(".at-step");
  const weighed = makeCandidates(list);
  const linked = makeLinks(x.find(".links tbody"));
  const linksNote = x.find(".links-note");
  const alive = x.find(".beams");
  const beamsNote = x.find(".beams-note");
  const hypotheses = x.find(".beam-list");

  const candidates = () => {
    const { step } = x.state;
    listed.hidden = !x.trace.scored;
    if (!x.trace.scored) return;
    write(atStep, t("at step {n}", { n: step + 1 }));
    const room = phone() ? 8 : searched(x.trace) ? 3 : 6;
    weighed.show(candidatesOf(x.trace, step, room), {
      why: asked() && labAnswers("contrast") ? why : null,
      resume: asked() ? resume : null,
    });
  };
  const resume = (id: number, word: string) => {
    const prefix = [...x.trace.tgt.slice(0, x.state.step).map(({ i }) => i), id];
    const detail: Resuming = { prefix, word };
    list.dispatchEvent(new CustomEvent(RESUME, { detail, bubbles: true }));
  };
  /**
   * Whether the page goes on from what is shown: what is still being written has no text of its own
   * yet.
   */
  const asked = () => hasLab() && !x.trace.live;
  const why = (word: string, chosen: boolean) =>
    askAbout(x.trace, "contrast", {
      step: x.state.step + 1,
      word: null,
      against: chosen ? null : word,
    });
  const whyHere = (query: Group, key: Group) =>
    askWhyHere(x.trace, x.state, [query.ids[0], key.ids[0]]);
  /** The hypotheses of a beam search that were alive, or ended, at this step. */
  const beams = () => {
    const { step } = x.state;
    const kept = x.trace.steps[step]?.b || [];
    alive.hidden = !searched(x.trace);
    if (alive.hidden) return;
    write(beamsNote, t("{n} at step {step}", { n: kept.length, step: step + 1 }));
    hypotheses.replaceChildren(...kept.map((each) => hypothesis(each, !step)));
  };
  const links = () => {
    const { kind, step } = x.state;
    const picture = x.picture();
    const row = x.rowIndex(picture);
    const token = picture.rows[row]?.text;
    const ofToken = token === undefined ? "" : t("of {token}", { token });
    write(linksNote, kind === "encoder" ? ofToken : t("at step {n}", { n: step + 1 }));
    const shown = strongest(picture, row, searched(x.trace) && !phone() ? 3 : 5);
    const known = asked() && labAnswers("why") && x.state.view !== "aggregate" && picture.rows[row];
    const here = known
      ? (column: number) => whyHere(picture.rows[row], picture.columns[column])
      : null;
    linked.show(shown, x.colours(), here);
  };

  const paint = (changed: Changed) => {
    if (["trace", "step", "language", "size"].some((name) => changed.has(name))) {
      list.lang = hypotheses.lang = tagOf(x.trace.checkpoint.tgt);
      candidates();
      beams();
    }
    links();
  };
  return {
    needs: "trace step query kind map unit specials colours language size view".split(" "),
    paint,
  };
};
