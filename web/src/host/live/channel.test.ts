import { expect, it, vi } from "vitest";
import { channel } from "./channel";

it("who watches hears every value, and two like answers as two", () => {
  const { props, watch, tell, send } = channel();
  const heard: string[] = [];
  const other = vi.fn();
  watch("value", () => heard.push(props.value));
  watch("value", other);
  tell("typed");
  send({ kind: "error" });
  send({ kind: "error" });
  expect(heard[0]).toBe("typed");
  expect(heard.slice(1).map((each) => JSON.parse(each).kind)).toEqual(["error", "error"]);
  expect(heard[1]).not.toBe(heard[2]);
  expect(other).toHaveBeenCalledTimes(3);
});
