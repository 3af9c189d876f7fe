import { expect, it } from "vitest";
import type { ModelConfig } from "./config";
import { padded } from "./passes";

const config = (padded_length: number | null) => ({ padded_length, pad_id: 9 }) as ModelConfig;

it("a source is read as it is, or with padding up to the model's one length", () => {
  expect(padded([5, 2], config(null))).toEqual([5, 2]);
  expect(padded([5, 2], config(4))).toEqual([5, 2, 9, 9]);
  expect(padded([5, 2], config(2))).toEqual([5, 2]);
});
