/* The header of a safetensors file: which tensor lies where. */

import { Refusal } from "../refusal";

/** One tensor; `start` and `end` are bytes of the file. */
export interface Entry {
  dtype: string;
  shape: number[];
  start: number;
  end: number;
}

const LENGTH = 8;
const LONGEST = 2 ** 20;

/** The first byte behind the header, by the file's first eight bytes. */
export function dataStart(file: Uint8Array): number {
  const size = Number(new DataView(file.buffer, file.byteOffset, LENGTH).getBigUint64(0, true));
  if (size > LONGEST || LENGTH + size > file.byteLength)
    throw new Refusal("the weights are cut off or no safetensors file; fetch them again");
  return LENGTH + size;
}

/** Every tensor of the file, by its name. */
export function readHeader(file: Uint8Array): Map<string, Entry> {
  const start = dataStart(file);
  // A copy: browsers do not decode what lies in memory that may grow.
  const header: unknown = JSON.parse(new TextDecoder().decode(file.slice(LENGTH, start)));
  const entries = new Map<string, Entry>();
  for (const [name, value] of Object.entries(header as Record<string, unknown>)) {
    if (name === "__metadata__") continue;
    const { dtype, shape, data_offsets } = value as {
      dtype: string;
      shape: number[];
      data_offsets: [number, number];
    };
    const entry = { dtype, shape, start: start + data_offsets[0], end: start + data_offsets[1] };
    if (entry.end > file.byteLength || entry.start > entry.end)
      throw new Refusal(`the weights ${name} lie outside their file; fetch it again`);
    entries.set(name, entry);
  }
  return entries;
}
