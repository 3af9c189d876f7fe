/* A translation as text: a table of one map, all of it as JSON, the program that makes it again. */

import { csvCell } from "../format/text";
import { SPECIAL, UNKNOWN } from "../protocol/flags";
import type { Kind, Token } from "../protocol/messages";
import type { Picture } from "./picture";
import { decodingOf } from "./settings";
import type { Translation } from "./translation";

const line = (cells: string[]): string => cells.join(",");

/**
 * A picture as a table for spreadsheets (RFC 4180, with a mark that says UTF-8); cells of the
 * future are empty.
 */
export const csvOf = ({ rows, columns, z, masked }: Picture, kind: Kind): string => {
  const first = kind === "encoder" ? ["query"] : ["query (reads)", "predicts"];
  const head = [...first, ...columns.map((column) => column.text)].map(csvCell);
  const lines = rows.map((row, i) => {
    const names = kind === "encoder" ? [row.text] : [row.reads ?? "", row.predicts ?? ""];
    const weights = z[i].map((weight, j) => (masked(i, j) ? "" : String(weight)));
    return line([...names.map(csvCell), ...weights]);
  });
  return "\ufeff" + [line(head), ...lines].join("\r\n") + "\r\n";
};

const table = (lines: string[][]): string =>
  "\ufeff" + lines.map((cells) => line(cells)).join("\r\n") + "\r\n";

/**
 * Every head of a kind as one table: a line a row of a head's map, a column a token; cells of the
 * future are empty.
 */
export const csvOfHeads = (trace: Translation, kind: Kind): string => {
  const { layers, heads, rows, columns } = trace.maps[kind];
  const keys = trace.keys(kind).map(({ s }) => csvCell(s));
  const names = trace
    .queries(kind)
    .map(({ s }, i) => [s, kind === "encoder" ? "" : trace.tgt[i].s]);
  const lines = [["layer", "head", "query (reads)", "predicts", ...keys]];
  for (let l = 0; l < layers; l++)
    for (let h = 0; h < heads; h++) {
      const map = trace.head(kind, l, h);
      for (let i = 0; i < rows; i++) {
        const cells = Array.from({ length: columns }, (_, j) =>
          kind === "decoder" && j > i ? "" : String(map[i * columns + j]),
        );
        lines.push([String(l + 1), String(h + 1), ...names[i].map(csvCell), ...cells]);
      }
    }
  return table(lines);
};

/** What was weighed up at each step, the likeliest first. */
export const csvOfCandidates = (trace: Translation): string => {
  const lines = [["step", "query (reads)", "predicts", "candidate", "probability", "log p (nats)"]];
  trace.steps.forEach((step, t) => {
    const row = [String(t + 1), csvCell(trace.reads[t].s), csvCell(trace.tgt[t].s)];
    for (const { s, lp } of step.c)
      lines.push([...row, csvCell(s), String(Math.exp(lp)), String(lp)]);
  });
  return table(lines);
};

/** Maps of a kind as lists in lists: [L][H][rows][columns]. */
const nested = (trace: Translation, kind: Kind): number[][][][] => {
  const { layers, heads, rows, columns } = trace.maps[kind];
  const rowsOf = (map: Float32Array) =>
    Array.from({ length: rows }, (_, i) =>
      Array.from(map.subarray(i * columns, (i + 1) * columns)),
    );
  return Array.from({ length: layers }, (_, l) =>
    Array.from({ length: heads }, (_, h) => rowsOf(trace.head(kind, l, h))),
  );
};

const token = (each: Token) => ({
  id: each.i,
  surface: each.s,
  word: each.w,
  special: !!(each.f & SPECIAL),
  unknown: !!(each.f & UNKNOWN),
});

/** The whole translation, its maps with their full numbers. */
export const jsonOf = (trace: Translation): string => {
  const { source, normalised, translation, checkpoint, settings, truncated } = trace;
  const steps = trace.steps.map((step, i) => ({
    token: token(trace.tgt[i]),
    log_prob: step.lp,
    entropy: step.h,
    candidates: step.c.map((each) => ({ surface: each.s, id: each.i, log_prob: each.lp })),
  }));
  return JSON.stringify({
    ...{ source, normalised, translation, checkpoint, settings, truncated },
    src: trace.src.map(token),
    start: token(trace.start),
    tgt: trace.tgt.map(token),
    steps,
    ...Object.fromEntries(trace.kinds.map((kind) => [kind, nested(trace, kind)])),
  });
};

/** A value as Python writes it. */
const literal = (value: unknown): string => {
  if (typeof value === "boolean") return value ? "True" : "False";
  return value === null ? "None" : JSON.stringify(value);
};

/** The program that makes this translation again and takes one head's map. */
export const pythonOf = (
  trace: Translation,
  { kind, layer, head }: { kind: Kind; layer: number; head: number },
): string => {
  const { rows, columns } = trace.maps[kind];
  const options = Object.entries(decodingOf(trace)).map(
    ([name, value]) => `, ${name}=${literal(value)}`,
  );
  const { src, tgt } = trace.checkpoint;
  if (/:/.test(trace.direction)) options.unshift(`, src=${literal(src)}, tgt=${literal(tgt)}`);
  if (trace.prefix.length) options.push(`, prefix=[${trace.prefix.join(", ")}]`);
  return [
    "import translator",
    "",
    `t = translator.load(${literal(trace.checkpoint.name)})`,
    `trace = t.translate(${literal(trace.source)}${options.join("")})`,
    "print(trace.translation)",
    "",
    `weights = trace.${kind}[${layer}, ${head}]  # layer ${layer + 1}, head ${head + 1}: [${rows}, ${columns}]`,
    `queries = [token.surface for token in trace.queries(${literal(kind)})]`,
    `keys = [token.surface for token in trace.keys(${literal(kind)})]`,
  ].join("\n");
};
