/* What a view of the lab shows, as numbers: one table for spreadsheets, or all of it as JSON. */

import { csvCell } from "../../format/text";
import { bytesOf } from "../../protocol/decode";
import type { LabAnswer } from "../../protocol/lab";
import type { LabQuestion } from "../../state/ask";

type Numbers = (bytes: ArrayBuffer) => ArrayLike<number>;
/** Arrays as Plotly packs them, by their type. */
const PACKED: Record<string, Numbers> = {
  f8: (bytes) => new Float64Array(bytes),
  f4: (bytes) => new Float32Array(bytes),
  i4: (bytes) => new Int32Array(bytes),
  i2: (bytes) => new Int16Array(bytes),
  i1: (bytes) => new Int8Array(bytes),
  u4: (bytes) => new Uint32Array(bytes),
  u2: (bytes) => new Uint16Array(bytes),
  u1: (bytes) => new Uint8Array(bytes),
};

/** A figure's value with the arrays that Python packed as plain lists. */
export const unpacked = (value: any): any => {
  if (Array.isArray(value)) return value.map(unpacked);
  if (!value || typeof value !== "object") return value;
  if (typeof value.bdata !== "string")
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, unpacked(each)]));
  const flat = Array.from(PACKED[value.dtype](bytesOf(value.bdata).buffer));
  const columns = Number(String(value.shape ?? "").split(",")[1] ?? 0);
  if (!columns) return flat;
  return Array.from({ length: flat.length / columns }, (_, i) =>
    flat.slice(i * columns, (i + 1) * columns),
  );
};

const figuresOf = ({ figures = [] }: LabAnswer): any[] =>
  figures.map((value) => unpacked(JSON.parse(value).light));

export const jsonOfAnswer = (asked: LabQuestion, answer: LabAnswer): string => {
  const { lines, table, captions, ribbons, slides, chosen } = answer;
  const data = figuresOf(answer).map((figure) => figure.data);
  return JSON.stringify({
    ...asked,
    lines,
    table,
    captions,
    figures: data,
    ribbons,
    slides,
    chosen,
  });
};

/** Rows of one trace of a figure: a heat map as a table, anything else as its points. */
const rowsOf = (trace: any, { xaxis, yaxis }: any): unknown[][] => {
  if (trace.type === "heatmap") {
    const columns: unknown[] = xaxis?.ticktext ?? trace.x ?? [];
    const names: unknown[] = yaxis?.ticktext ?? trace.y ?? [];
    return [
      ["", ...columns],
      ...trace.z.map((row: unknown[], i: number) => [names[i] ?? i, ...row]),
    ];
  }
  const named = trace.orientation === "h" ? yaxis?.ticktext : xaxis?.ticktext;
  const [places, values] = trace.orientation === "h" ? [trace.y, trace.x] : [trace.x, trace.y];
  return (places ?? []).map((place: unknown, i: number) => [
    trace.name ?? "",
    named?.[i] ?? place,
    values[i],
  ]);
};

/** The table, then each figure under its caption (RFC 4180, with a mark that says UTF-8). */
export const csvOfAnswer = (answer: LabAnswer): string => {
  const { table, captions = [] } = answer;
  const blocks: unknown[][][] = table ? [[table.head, ...table.rows]] : [];
  figuresOf(answer).forEach(({ data, layout }, n) =>
    blocks.push([[captions[n] ?? ""], ...data.flatMap((trace: any) => rowsOf(trace, layout))]),
  );
  const lines = blocks.flatMap((block, n) => [...(n ? [[]] : []), ...block]);
  const cell = (value: unknown) =>
    typeof value === "number" ? String(value) : csvCell(String(value ?? ""));
  return "\ufeff" + lines.map((line) => line.map(cell).join(",")).join("\r\n") + "\r\n";
};
