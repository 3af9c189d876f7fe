/* What each head does in one translation: the measures and roles of
   translator/analysis/heads.py. */

import type { Kind, Profile, Reading, Role } from "../../protocol/messages";
import type { Token } from "../text/tokenizer";
import { judge, type Judged } from "./roles";
import { isPunctuation } from "./tokens";

/** Maps [L, H, Q, K], flat. */
export interface Maps {
  values: Float32Array;
  shape: readonly [layers: number, heads: number, queries: number, keys: number];
}

/** What is told of a head: its measures, without those that only its role is judged by. */
type Told = Omit<Measured, `read_${string}` | `even_${string}`>;

/** One list a measure, head by head, layer by layer; see HeadStats in heads.py. */
export type Measures = {
  role: Role[];
  near: (Role | "")[];
  share: number[];
  reading: (Reading | "")[];
} & {
  [Name in keyof Told]: number[];
};

interface Measured extends Judged {
  entropy: number;
  confidence: number;
  distance: number;
}

/**
 * What the rows and keys of one kind of maps are, the same for every head; `reading` are the
 * content rows by the tokens that they read, `choosing` those that see more than one key,
 * `possible` those whose neighbour so far to the right is there, `plain` the keys that are words,
 * `even` the measures of weights that are all alike.
 */
interface Rows {
  kind: Kind;
  counted: number[];
  content: number[];
  reading: number[];
  choosing: number[];
  possible: Record<-1 | 0 | 1, number[]>;
  special: boolean[];
  punctuation: boolean[];
  plain: boolean[];
  plainKeys: number;
  visible: (query: number) => number;
  even: Pick<Measured, `even_${string}` & keyof Measured>;
}

/**
 * Measures and role of every head of one kind of attention. `owners` are the tokens that the rows
 * are counted by, `queries` those that they read.
 */
export function headStats(
  kind: Kind,
  maps: Maps,
  { owners, queries, keys }: Record<"owners" | "queries" | "keys", readonly Token[]>,
  profile?: Profile,
): Measures {
  const rows = rowsOf(kind, owners, queries, keys);
  const [L, H, Q, K] = maps.shape;
  const out: Record<string, unknown[]> = {};
  for (let head = 0; head < L * H; head++) {
    const map = maps.values.subarray(head * Q * K, (head + 1) * Q * K);
    const measured = measure(map, Q, K, rows);
    const rate = profile?.rates[head];
    const known =
      rate === undefined ? undefined : { rate, reading: profile?.readings?.[head] ?? "output" };
    const role = judge(measured, kind, kind === "cross" ? known : undefined);
    for (const [name, value] of Object.entries({ ...role, ...measured }))
      if (!/^(read|even)_/.test(name)) (out[name] ??= []).push(value);
  }
  return out as unknown as Measures;
}

function rowsOf(
  kind: Kind,
  owners: readonly Token[],
  queries: readonly Token[],
  keys: readonly Token[],
): Rows {
  const places = (tokens: readonly Token[], keep: (token: Token) => boolean) =>
    tokens.flatMap((token, at) => (keep(token) ? [at] : []));
  const isContent = (token: Token) => !token.special && !isPunctuation(token);
  const plain = places(owners, (token) => !token.special);
  const counted = plain.length ? plain : owners.map((_, at) => at);
  const [content, reading] = [places(owners, isContent), places(queries, isContent)];
  const told = {
    kind,
    counted,
    content: content.length ? content : counted,
    reading: reading.length ? reading : counted,
    special: keys.map((token) => token.special),
    punctuation: keys.map(isPunctuation),
    plain: keys.map(isContent),
  };
  const visible = kind === "decoder" ? (query: number) => query + 1 : () => keys.length;
  const choosing = counted.filter((query) => visible(query) > 1);
  const beside = (offset: number) =>
    kind === "cross"
      ? []
      : choosing.filter((query) => query + offset >= 0 && query + offset < visible(query));
  const possible = { [-1]: beside(-1), 0: beside(0), 1: beside(1) };
  const plainKeys = told.plain.filter(Boolean).length;
  const rows = { ...told, visible, choosing, possible, plainKeys };
  return { ...rows, even: evenOf(rows) };
}

/** What would be measured if every weight that a row may have were the same. */
function evenOf({ counted, content, possible, plain, visible }: Omit<Rows, "even">): Rows["even"] {
  const alike = (query: number) => 1 / visible(query);
  const sinks = (query: number) =>
    plain.slice(0, visible(query)).filter((word) => !word).length / visible(query);
  return {
    even_previous: mean(possible[-1], alike),
    even_same: mean(possible[0], alike),
    even_next: mean(possible[1], alike),
    even_sink: mean(counted, sinks),
    even_confidence: mean(content, alike),
  };
}

/** What is measured of each row, in one pass over it: numbers by the number of the query. */
function gaugesOf(map: Float32Array, Q: number, K: number, rows: Rows) {
  const { special, punctuation } = rows;
  const nats = new Float64Array(Q);
  const distance = new Float64Array(Q);
  const onSpecial = new Float64Array(Q);
  const onPunctuation = new Float64Array(Q);
  const most = new Float64Array(Q).fill(-Infinity);
  const best = new Int32Array(Q);
  for (let query = 0, at = 0; query < Q; query++) {
    const centre = rows.kind === "cross" ? (query * (K - 1)) / Math.max(Q - 1, 1) : query;
    for (let key = 0; key < K; key++, at++) {
      const weight = map[at]!;
      if (weight > 0) nats[query]! -= weight * Math.log(weight);
      if (weight > most[query]!) {
        most[query] = weight;
        best[query] = key;
      }
      distance[query]! += weight * Math.abs(centre - key);
      if (special[key]) onSpecial[query]! += weight;
      if (punctuation[key]) onPunctuation[query]! += weight;
    }
  }
  return { nats, distance, onSpecial, onPunctuation, most, best };
}

function measure(map: Float32Array, Q: number, K: number, rows: Rows): Measured {
  const { nats, distance, onSpecial, onPunctuation, most, best } = gaugesOf(map, Q, K, rows);
  const { counted, content, reading, choosing, plain, plainKeys, visible, possible } = rows;
  const by = (values: ArrayLike<number>) => (query: number) => values[query]!;
  const at = (offset: -1 | 0 | 1) =>
    mean(possible[offset], (query) => Number(best[query] === query + offset));
  const onPlain = (query: number) => Number(plain[best[query]!]!);
  const distinct = (of: readonly number[]) =>
    Math.min(new Set(of.map(by(best))).size / Math.max(Math.min(of.length, plainKeys), 1), 1);
  return {
    entropy: mean(counted, by(nats)),
    relative_entropy: mean(
      choosing,
      (query) => nats[query]! / Math.log(Math.max(visible(query), 2)),
    ),
    confidence: mean(counted, by(most)),
    distance: mean(counted, by(distance)),
    previous: at(-1),
    same: at(0),
    next: at(1),
    special: mean(counted, by(onSpecial)),
    punctuation: mean(counted, by(onPunctuation)),
    content_confidence: mean(content, by(most)),
    on_content: mean(content, onPlain),
    distinct: distinct(content),
    read_content_confidence: mean(reading, by(most)),
    read_on_content: mean(reading, onPlain),
    read_distinct: distinct(reading),
    ...rows.even,
  };
}

function mean(rows: readonly number[], value: (query: number) => number): number {
  return rows.length ? rows.reduce((sum, query) => sum + value(query), 0) / rows.length : 0;
}

/** The cross head to look at first; `rates` are alignment error rates of these heads, or empty. */
export function leadingHead(
  stats: Measures,
  heads: number,
  rates: readonly number[] = [],
): [number, number] {
  const value = (at: number) =>
    stats.content_confidence[at]! * stats.on_content[at]! * (rates.length ? 1 - rates[at]! : 1);
  let lead = 0;
  const first = (at: number) => stats.role[at] === "aligns" && stats.reading[at] !== "input";
  stats.role.forEach((_, at) => {
    const [ours, theirs] = [first(at), first(lead)];
    if (ours === theirs ? value(at) > value(lead) : ours) lead = at;
  });
  return [Math.floor(lead / heads), lead % heads];
}

/**
 * How much of each input reached each position through all layers of self-attention: [N, N].
 * analysis/rollout.py.
 */
export function selfRollout({ values, shape }: Maps, residual = 0.5): Float64Array {
  const [L, H, N] = shape;
  let rolled = Float64Array.from({ length: N * N }, (_, i) => Number(i % (N + 1) === 0));
  for (let l = 0; l < L; l++) {
    const layer = new Float64Array(N * N);
    for (let h = 0; h < H; h++)
      for (let i = 0; i < N * N; i++) layer[i]! += values[(l * H + h) * N * N + i]! / H;
    for (let i = 0; i < N * N; i++)
      layer[i] = (1 - residual) * layer[i]! + (i % (N + 1) === 0 ? residual : 0);
    const next = new Float64Array(N * N);
    for (let i = 0; i < N; i++)
      for (let k = 0; k < N; k++)
        for (let j = 0; j < N; j++) next[i * N + j]! += layer[i * N + k]! * rolled[k * N + j]!;
    rolled = next;
  }
  return rolled;
}
