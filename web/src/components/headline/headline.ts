/* The head's name and profile, and what is shown of it. */

import { el, offer, write } from "../../dom/element";
import { percent } from "../../i18n/numerals";
import { t, tParts } from "../../i18n/words";
import { SPECIAL } from "../../protocol/flags";
import type { Kind } from "../../protocol/messages";
import type { Changed, ExplorerContext, Part } from "../../state/context";
import { toKind } from "../../state/choices";
import type { View } from "../../state/view";
import { aggregateHeads, aggregateName, aggregates, rowsAlike } from "../../trace/aggregate";
import { kindName, usually } from "../../trace/names";
import { nearestTold, roleBar, roleTold } from "../../trace/roles";
import { lookedAt, sentenceOf } from "../../trace/saying";
import { explained } from "../../dom/tip";
import type { Specials } from "../../trace/picture";
import { shareOn } from "../../trace/share";

type Needs = Pick<
  ExplorerContext,
  | "root"
  | "find"
  | "state"
  | "trace"
  | "set"
  | "segment"
  | "moved"
  | "map"
  | "picture"
  | "rowIndex"
  | "contributes"
>;

const part = (...nodes: (Node | string)[]): HTMLElement => el("span", {}, ...nodes);

/** Options from 1 to `count`, one of them chosen. */
const fill = (select: HTMLSelectElement, count: number, value: number): void => {
  if (select.options.length !== count)
    select.replaceChildren(
      ...Array.from({ length: count }, (_, i) => el("option", { value: i, text: i + 1 })),
    );
  select.value = String(value);
};

const specialsNote = (specials: Specials, share: string): string => {
  if (specials === "shown") return "";
  return specials === "hidden"
    ? t(
        "Special tokens are hidden: {share} of the weight is not shown, so rows no longer sum to 1",
        {
          share,
        },
      )
    : t(
        "Special tokens are hidden and rows are rescaled to sum to 1; special tokens held {share} of the weight",
        { share },
      );
};

/** What an aggregate is made of. */
const aggregateProfile = (x: Needs): HTMLElement[] => {
  const { aggregate } = x.state;
  const name = part(el("b", { text: aggregateName(aggregate) }));
  if (aggregate === "rollout") {
    const alike = rowsAlike(x.trace.rolled, x.trace.src.length);
    const why = t(
      "All rows are almost equal: each of the {n} layers mixes the mean of its heads with what came before, so in the end every token contains about the same share of every other",
      { n: x.trace.maps.encoder.layers },
    );
    return [name, part(t("Abnar and Zuidema 2020, equation 1")), ...(alike ? [part(why)] : [])];
  }
  if (aggregate === "alti")
    return [
      name,
      part(
        t("Ferrando et al. 2022, through all layers; rows of cross and decoder together sum to 1"),
      ),
    ];
  const n = aggregateHeads(x.trace, x.state, aggregate.split("-")[0]).length;
  return [
    name,
    part(
      aggregate.endsWith("max")
        ? t("{n} heads; rows may sum to more than 1", { n })
        : t("{n} heads", { n }),
    ),
  ];
};

/** What one head does in this sentence. */
const headProfile = (x: Needs): HTMLElement[] => {
  const { kind, layer, head } = x.state;
  const stats = x.trace.stats(kind, layer, head);
  if (!stats) return [part(t("The translation is being written"))];
  return [
    explained(part(el("b", { text: roleTold(stats) })), roleBar(stats.role)),
    ...(stats.near ? [explained(part(nearestTold(stats)), roleBar(stats.near))] : []),
    explained(
      part(...tParts("entropy {h} nats", { h: stats.entropy.toFixed(1) })),
      t(
        "How widely a row spreads its weight, on average: 0 means all of it on one token, ln n means equally over n tokens. A nat is the unit of the natural logarithm; 0.69 nats are one bit.",
      ),
    ),
    explained(
      part(...tParts("{share} on its strongest key", { share: percent(stats.confidence) })),
      t("The largest weight of a row, on average over the rows."),
    ),
    explained(
      part(...tParts("distance {d}", { d: stats.distance.toFixed(1) })),
      kind === "cross"
        ? t("The mean distance of a row's weight from the diagonal of the map, in tokens.")
        : t("The mean distance between a row's token and its weight, in tokens."),
    ),
  ];
};

/** What this head did in the present row, as a sentence about this translation. */
const sentence = (x: Needs): (Node | string)[] => {
  const { kind, layer, head } = x.state;
  const picture = x.picture();
  const reading = x.trace.stats(kind, layer, head)?.reading ?? "";
  const looked = lookedAt(x.trace, picture, x.rowIndex(picture), kind, reading);
  if (!looked) return [];
  const { reads, predicts, key } = looked;
  return tParts(sentenceOf(looked), { reads, predicts, key });
};

const BY_ROW = ["step", "query"];
const BY_HEAD =
  "trace kind layer head view map unit specials scale aggregate overlay language renormalise".split(
    " ",
  );

export const makeHeadline = (x: Needs): Part => {
  const layer = x.find<HTMLSelectElement>("#layer");
  const head = x.find<HTMLSelectElement>("#head");
  const aggregate = x.find<HTMLSelectElement>("#aggregate");
  const specials = x.find<HTMLInputElement>(".specials");
  const saying = x.find(".saying");
  layer.addEventListener("change", () => x.set({ layer: Number(layer.value), hover: null }));
  head.addEventListener("change", () => x.set({ head: Number(head.value), hover: null }));
  aggregate.addEventListener("change", () => {
    const { value } = aggregate;
    x.set({ aggregate: value, ...(value === "rollout" ? { kind: "encoder" } : {}) });
  });
  x.segment("data-kind", (value) => toKind(value as Kind, x.state));
  x.segment("data-view", (value) => ({ view: value as View["view"], hover: null }));
  x.segment("data-unit", (value) => ({ unit: value as View["unit"], hover: null }));
  x.segment("data-scale", (value) => ({ scale: value as View["scale"] }));
  specials.addEventListener("change", () => {
    const hidden = x.state.renormalise ? "renormalised" : "hidden";
    x.set({ specials: specials.checked ? "shown" : hidden, hover: null });
  });

  const choices = () => {
    const { state } = x;
    const { layers, heads } = x.trace.maps[state.kind];
    fill(layer, layers, state.layer);
    fill(head, heads, state.head);
    offer(aggregate, aggregates(x.contributes), state.aggregate);
    const single = state.view !== "aggregate";
    if (aggregate.hidden !== single) {
      aggregate.hidden = single;
      x.moved(); // the options may need a line more
    }
    for (const name of ["kind", "view", "unit", "scale"] as const)
      x.root
        .querySelectorAll<HTMLElement>(`button[data-${name}]`)
        .forEach((button) =>
          button.setAttribute("aria-pressed", String(button.dataset[name] === state[name])),
        );
    for (const button of x.root.querySelectorAll<HTMLElement>("button[data-kind]"))
      button.hidden = !x.trace.kinds.includes(button.dataset.kind as Kind);
    specials.checked = state.specials === "shown";
  };
  const profile = () => {
    const { kind, view, specials: shown } = x.state;
    choices();
    x.find(".kind-name").textContent = kindName(kind);
    const share = percent(shareOn(x.trace, kind, x.map(), SPECIAL));
    x.find(".special-share").textContent = t("{share} of weight", { share });
    x.find(".state-note").textContent = specialsNote(shown, percent(x.picture().hidden));
    const single = view !== "aggregate";
    x.find(".profile").replaceChildren(...(single ? headProfile(x) : aggregateProfile(x)));
    const usual =
      single && x.trace.heads ? usually(x.trace, kind, x.state.layer, x.state.head) : null;
    x.find(".usual").textContent = usual?.text ?? "";
    x.find(".usual").title = usual?.title ?? "";
  };
  const paint = (changed: Changed) => {
    if (BY_HEAD.some((name) => changed.has(name))) profile();
    write(saying, ...(x.state.view !== "aggregate" ? sentence(x) : []));
  };
  return { needs: [...BY_HEAD, ...BY_ROW], paint };
};
