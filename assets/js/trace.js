/* One translation as the server sent it: unpacking, and the slices that every view is made of. No DOM here. */

const SPECIAL = 1, UNKNOWN = 2, SPACE = 4, PUNCTUATION = 8;

const bytesOf = base64 => {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
};

/** A message as the server sent it: JSON, at once, or a promise where it is long and came deflated, in base64 (rejected if it cannot be read). */
const messageOf = value => {
  if (value.startsWith("{")) return JSON.parse(value);
  return (async () => new Response(new Blob([bytesOf(value)]).stream().pipeThrough(new DecompressionStream("deflate"))).json())();
};

/** Weights arrive as 16-bit fixed point (the page) or as 32-bit floats (exports, offline page). */
const floatsOf = (base64, encoding) => {
  const bytes = bytesOf(base64);
  if (encoding === "f32") {
    const count = bytes.length / 4, whole = new Uint8Array(bytes.length);
    for (let i = 0; i < count; i++) for (let k = 0; k < 4; k++) whole[4 * i + k] = bytes[k * count + i];
    return new Float32Array(whole.buffer);
  }
  const half = bytes.length / 2, floats = new Float32Array(half);
  for (let i = 0; i < half; i++) floats[i] = (bytes[i] * 256 + bytes[half + i]) / 65535;
  return floats;
};

/** The decoder travels as its lower triangle; the future is known to be 0. */
const fromTriangles = (packed, heads, size) => {
  const full = new Float32Array(heads * size * size);
  let at = 0;
  for (let head = 0; head < heads; head++)
    for (let i = 0; i < size; i++)
      for (let j = 0; j <= i; j++) full[(head * size + i) * size + j] = packed[at++];
  return full;
};

class Translation {
  constructor(payload) {
    Object.assign(this, { direction: `${payload.checkpoint.src}-${payload.checkpoint.tgt}` }, payload);
    this.reads = [this.start, ...this.tgt.slice(0, -1)];
    this.maps = {};
    for (const kind of ["encoder", "decoder", "cross"]) {
      const [layers, heads, rows, columns] = this.shapes[kind];
      const values = floatsOf(this.weights[kind], this.encoding);
      this.maps[kind] = { layers, heads, rows, columns, values: kind === "decoder" ? fromTriangles(values, layers * heads, rows) : values };
    }
    this.rolled = floatsOf(this.rollout, this.encoding);
    this.weights = this.rollout = null;
  }
  queries(kind) { return kind === "encoder" ? this.src : this.reads; }
  keys(kind) { return kind === "decoder" ? this.reads : this.src; }

  /** One head's map, row by row in one Float32Array. */
  head(kind, layer, head) {
    const { heads, rows, columns, values } = this.maps[kind], size = rows * columns, from = (layer * heads + head) * size;
    return values.subarray(from, from + size);
  }
  stats(kind, layer, head) {
    const at = layer * this.maps[kind].heads + head, values = this.heads[kind];
    return Object.fromEntries(Object.keys(values).map(name => [name, values[name][at]]));
  }

  /** Mean or maximum over chosen heads: [[layer, head], ...]. */
  combined(kind, chosen, how) {
    const { rows, columns } = this.maps[kind], result = new Float32Array(rows * columns);
    for (const [layer, head] of chosen) {
      const map = this.head(kind, layer, head);
      for (let i = 0; i < map.length; i++) result[i] = how === "max" ? Math.max(result[i], map[i]) : result[i] + map[i] / chosen.length;
    }
    return result;
  }

  /** Which row of `kind` belongs to a step, or to a source token. */
  rowOf(kind, state) { return kind === "encoder" ? state.query : state.step; }
}

/* ---- groups: what one row or one column of a picture stands for ---- */

const single = tokens => tokens.map((token, i) => ({ ids: [i], text: token.s, special: !!(token.f & SPECIAL), unknown: !!(token.f & UNKNOWN) }));

const byWord = (tokens, words) => {
  const groups = [];
  words.g.forEach((group, i) => {
    if (!groups[group]) groups[group] = { ids: [], text: words.s[group], special: !!(tokens[i].f & SPECIAL), unknown: !!(tokens[i].f & UNKNOWN) };
    groups[group].ids.push(i);
  });
  return groups;
};

/** Row and column groups of a kind, before anything is hidden. Cross rows belong to the word they predict. */
const groupsOf = (trace, kind, unit) => {
  const word = unit === "word", { src, reads, tgt } = trace.words || {};
  const keys = kind === "decoder" ? (word ? byWord(trace.reads, reads) : single(trace.reads)) : word ? byWord(trace.src, src) : single(trace.src);
  if (kind === "encoder") return { rows: keys, columns: keys };
  const targets = word ? byWord(trace.tgt, tgt) : single(trace.tgt), sources = word ? byWord(trace.reads, reads) : single(trace.reads);
  const owners = kind === "cross" ? targets : sources;
  const holding = (groups, id) => groups.find(group => group.ids.includes(id));
  const rows = owners.map(group => ({
    ...group,
    reads: holding(sources, group.ids[0]).text,
    predicts: holding(targets, group.ids[group.ids.length - 1]).text,
    special: sources === owners ? group.special : false,
  }));
  return { rows, columns: keys };
};

/**
 * The picture of one map: sums over the pieces of a key, averages over the pieces of a query.
 * `specials`: "shown", "hidden", or "renormalised" (hidden, and every row sums to 1 again).
 */
const slice = (trace, kind, map, { unit, specials }) => {
  const { rows: allRows, columns: allColumns } = groupsOf(trace, kind, unit), width = trace.maps[kind].columns;
  const keep = specials === "shown" ? () => true : group => !group.special;
  const rows = kind === "encoder" ? allRows.filter(keep) : allRows, columns = allColumns.filter(keep);
  let hidden = 0;
  const z = rows.map(row => {
    const values = columns.map(column => {
      let sum = 0;
      for (const i of row.ids) for (const j of column.ids) sum += map[i * width + j];
      return sum / row.ids.length;
    });
    const total = values.reduce((a, b) => a + b, 0);
    hidden += Math.max(0, 1 - total) / rows.length;
    return specials === "renormalised" && total > 0 ? values.map(value => value / total) : values;
  });
  const masked = kind === "decoder" ? (i, j) => columns[j].ids[0] > rows[i].ids[rows[i].ids.length - 1] : () => false;
  return { rows, columns, z, masked, hidden };
};

/** The share of a map's weight that falls on keys with a flag: the mean over its rows. */
const shareOn = (trace, kind, map, flag) => {
  const { rows, columns } = trace.maps[kind], keys = trace.keys(kind);
  let sum = 0;
  for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) if (keys[j].f & flag) sum += map[i * columns + j];
  return sum / rows;
};

/** The strongest links of one row; a text that stands twice among the keys carries its position. */
const strongest = (picture, row, count) => {
  const texts = picture.columns.map(column => column.text);
  return (picture.z[row] || [])
    .map((weight, j) => ({ weight, j, text: texts[j], position: texts.indexOf(texts[j]) === texts.lastIndexOf(texts[j]) ? "" : String(picture.columns[j].ids[0] + 1) }))
    .filter(link => !picture.masked(row, link.j))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, count);
};
