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
 * What the rows and keys of one kind of maps are; `reading` are the content rows by the tokens that
 * they read.
 */
interface Rows {
  kind: Kind;
  counted: number[];
  content: number[];
  reading: number[];
  special: boolean[];
  punctuation: boolean[];
  visible: (query: number) => number;
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
  return {
    kind,
    counted,
    content: content.length ? content : counted,
    reading: reading.length ? reading : counted,
    special: keys.map((token) => token.special),
    punctuation: keys.map(isPunctuation),
    visible: kind === "decoder" ? (query) => query + 1 : () => keys.length,
  };
}

/** What is measured of one row: numbers by the number of the query. */
function gauges(map: Float32Array, Q: number, K: number, rows: Rows) {
  const row = (query: number) => map.subarray(query * K, (query + 1) * K);
  const nats = (query: number) =>
    -row(query).reduce((sum, weight) => sum + (weight > 0 ? weight * Math.log(weight) : 0), 0);
  const most = (query: number) => row(query).reduce((a, b) => Math.max(a, b));
  const best = (query: number) => row(query).indexOf(most(query));
  const share = (chosen: readonly boolean[]) => (query: number) =>
    row(query).reduce((sum, weight, key) => sum + (chosen[key] ? weight : 0), 0);
  const centre = (query: number) =>
    rows.kind === "cross" ? (query * (K - 1)) / Math.max(Q - 1, 1) : query;
  const distance = (query: number) =>
    row(query).reduce((sum, weight, key) => sum + weight * Math.abs(centre(query) - key), 0);
  const plainKey = (key: number) => !rows.special[key] && !rows.punctuation[key];
  const { visible } = rows;
  return {
    nats,
    most,
    best,
    share,
    distance,
    plainKeys: rows.special.filter((_, key) => plainKey(key)).length,
    onPlain: (query: number) => Number(plainKey(best(query))),
    alike: (query: number) => 1 / visible(query),
    sinks: (query: number) =>
      rows.special.slice(0, visible(query)).filter((_, key) => !plainKey(key)).length /
      visible(query),
  };
}

function measure(map: Float32Array, Q: number, K: number, rows: Rows): Measured {
  const gauge = gauges(map, Q, K, rows);
  const { nats, most, best, share, distance, plainKeys, onPlain, alike, sinks } = gauge;
  const { counted, content, visible } = rows;
  const choosing = counted.filter((query) => visible(query) > 1);
  const possible = (offset: number) =>
    rows.kind === "cross"
      ? []
      : choosing.filter((query) => query + offset >= 0 && query + offset < visible(query));
  const at = (offset: number) =>
    mean(possible(offset), (query) => Number(best(query) === query + offset));
  const distinct = (of: readonly number[]) =>
    Math.min(new Set(of.map(best)).size / Math.max(Math.min(of.length, plainKeys), 1), 1);
  return {
    entropy: mean(counted, nats),
    relative_entropy: mean(
      choosing,
      (query) => nats(query) / Math.log(Math.max(visible(query), 2)),
    ),
    confidence: mean(counted, most),
    distance: mean(counted, distance),
    previous: at(-1),
    same: at(0),
    next: at(1),
    special: mean(counted, share(rows.special)),
    punctuation: mean(counted, share(rows.punctuation)),
    content_confidence: mean(content, most),
    on_content: mean(content, onPlain),
    distinct: distinct(content),
    read_content_confidence: mean(rows.reading, most),
    read_on_content: mean(rows.reading, onPlain),
    read_distinct: distinct(rows.reading),
    even_previous: mean(possible(-1), alike),
    even_same: mean(possible(0), alike),
    even_next: mean(possible(1), alike),
    even_sink: mean(counted, sinks),
    even_confidence: mean(content, alike),
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
