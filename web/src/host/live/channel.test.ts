import { expect, it, vi } from "vitest";
import { channel } from "./channel";

it("who watches hears every value as it is", () => {
  const { props, watch, tell } = channel<object | string>();
  const heard: unknown[] = [];
  const other = vi.fn();
  watch("value", () => heard.push(props.value));
  watch("value", other);
  const message = { kind: "error" };
  tell("typed");
  tell(message);
  tell({ kind: "error" });
  expect(heard).toEqual(["typed", message, message]);
  expect(heard[1]).toBe(message);
  expect(heard[2]).not.toBe(message);
  expect(other).toHaveBeenCalledTimes(3);
});
