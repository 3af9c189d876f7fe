/* The messages that the server is held to by `tests/ui/test_protocol.py`: types and decoder take
   the same files. */

import { describe, expect, it } from "vitest";
import boardSaid from "../../../tests/protocol/lab_board.json";
import errorSaid from "../../../tests/protocol/error.json";
import labSaid from "../../../tests/protocol/lab_ask.json";
import inspectSaid from "../../../tests/protocol/inspect.json";
import numbers from "../../../tests/protocol/numbers.json";
import refusalSaid from "../../../tests/protocol/refusal.json";
import stationSaid from "../../../tests/protocol/station.json";
import stepSaid from "../../../tests/protocol/step.json";
import switchSaid from "../../../tests/protocol/lab_switch.json";
import traceSaid from "../../../tests/protocol/trace.json";
import { LiveTranslation } from "../trace/live";
import { Translation } from "../trace/translation";
import type { About, Board, Change, LabAnswer } from "./lab";
import type { StationAnswer } from "./lesson";
import {
  KINDS,
  type Message,
  type Settings,
  type StepPayload,
  type TracePayload,
} from "./messages";
import { type Inspection, type Refusal, refused } from "./server";

/** A type as JSON modules have it: any text for a word, any list for a tuple. */
type Loose<T> = T extends string
  ? string
  : T extends number
    ? number
    : T extends boolean
      ? boolean
      : T extends readonly (infer E)[]
        ? Loose<E>[]
        : T extends object
          ? { [K in keyof T]: Loose<T[K]> }
          : T;

/** What the server says and the type does not know. */
type Extra<S, T> = Exclude<keyof S, T extends unknown ? keyof T : never>;
const none = <S, T>(...extra: Extra<S, T> extends never ? [] : [never]): void => void extra;

// Checked by tsc: a field that is renamed, lost, or of another type does not compile.
const trace: Loose<TracePayload> = traceSaid;
const step: Loose<Omit<StepPayload, "shape" | "step">> = stepSaid;
const error: Loose<Extract<Message, { kind: "error" }>> = errorSaid;
const refusal: Loose<Refusal> = refusalSaid;
const inspection: Loose<Inspection> = inspectSaid;
const board: Loose<Board & About> = boardSaid;
const change: Loose<Change & About> = switchSaid;
const lab: Loose<Omit<LabAnswer, "lines">> & About = labSaid;
const station: Loose<Omit<StationAnswer, "numbers" | "texts" | "controls">> = stationSaid;
none<typeof traceSaid, TracePayload>();
none<typeof stepSaid, StepPayload>();
none<typeof refusalSaid, Refusal>();
none<typeof boardSaid, Board & About>();
none<typeof switchSaid, Change & About>();
none<typeof labSaid, LabAnswer & About>();
none<typeof stationSaid, StationAnswer>();

describe("a trace", () => {
  const found = new Translation(trace as unknown as TracePayload);

  it.each(KINDS)("gives the %s maps that the model gave", (kind) => {
    const { layers, heads, rows, columns, values } = found.maps[kind];
    expect([layers, heads, rows, columns]).toEqual(numbers[kind].shape);
    expect(values).toHaveLength(numbers[kind].values.length);
    numbers[kind].values.forEach((value, i) =>
      expect(Math.abs(values[i] - value)).toBeLessThan(1e-5),
    );
  });

  it("has tokens, words, steps and heads of one length each", () => {
    const [T, S] = [found.tgt.length, found.src.length];
    expect(found.reads.map(({ i }) => i)).toEqual(
      [found.start, ...found.tgt].slice(0, T).map(({ i }) => i),
    );
    expect(found.steps).toHaveLength(T);
    expect(found.words!.src.g).toHaveLength(S);
    expect(found.words!.tgt.g).toHaveLength(T);
    for (const kind of KINDS) {
      const { layers, heads } = found.maps[kind];
      for (const list of Object.values(found.heads![kind]))
        expect(list).toHaveLength(layers * heads);
    }
  });

  it("carries its settings and its candidates", () => {
    const asked: Partial<Settings> = { method: "beam", beam: 2, max_length: 5, candidates: 3 };
    expect(found.settings).toMatchObject(asked);
    expect(found.steps.every(({ c, b }) => c.length === 3 && b!.length >= 1)).toBe(true);
  });
});

describe("a step", () => {
  it("stands in the trace that it becomes", () => {
    const sent = step as unknown as StepPayload;
    const live = new LiveTranslation(sent);
    live.add(sent);
    const { layers, heads, columns, values } = live.frozen().maps.cross;
    expect([layers, heads, columns]).toEqual([2, 2, trace.src.length]);
    expect(sent.log_probs).toHaveLength(sent.index + 1);
    const rows = sent.tgt.length;
    for (let head = 0; head < layers * heads; head++) {
      const row = values.subarray((head * rows + sent.index) * columns).subarray(0, columns);
      expect(row.reduce((sum, value) => sum + value, 0)).toBeCloseTo(1, 3);
    }
  });
});

describe("answers", () => {
  it("of the lab have a role and a number for every head", () => {
    expect(board.values.map((row) => row.length)).toEqual(board.roles.map((row) => row.length));
    expect(change.change).toBeCloseTo(change.first - change.before.score, 4);
    expect(change.change).toBeCloseTo(board.values[0][1], 3);
    expect(lab.picks).toEqual(lab.table!.rows.map(([candidate]) => candidate));
  });

  it("hold figures that Plotly takes, in light and dark", () => {
    for (const figure of [...lab.figures!, station.figure])
      expect(Object.keys(JSON.parse(figure))).toEqual(["light", "dark"]);
    expect(station.views.map(({ name }) => name)).toContain(station.view);
  });

  it("that refuse say why", () => {
    expect(refused(refusal)).toBe(true);
    expect(refusal.error).toMatch(/^step is 99; it must be a whole number from 1 to \d+$/);
    expect(error).toEqual({ kind: "error", text: "nothing to translate: the text is blank" });
    expect(refused(inspection)).toBe(false);
    expect(inspection.tokens).toBe(trace.src.length);
  });
});
