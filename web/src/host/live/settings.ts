/* The decoding settings that a page asks for, and those that a method uses. */

import { DECODING } from "../../protocol/registry";

/** The method that leaves the decoding to the checkpoint. */
export const AUTOMATIC = "automatic";

/** The settings that a page asks for behind the method, and how. */
export const CONTROLLED = DECODING.flatMap((setting) =>
  setting.control ? [{ ...setting, control: setting.control }] : [],
);
export type Controlled = (typeof CONTROLLED)[number];

/** What stands in a control; of a text that is typed, the number, with a point or a comma. */
export const valueIn = (value: string, { control }: Controlled): string | number => {
  const typed = value.trim().replace(",", ".");
  if (control.kind === "text" && (typed === "" || Number.isNaN(Number(typed)))) return value.trim();
  return Number(typed);
};

/** The settings that a method uses; what is left blank is the checkpoint's. */
export const usedSettings = (
  method: string,
  valueOf: (each: Controlled) => string | number,
): object => {
  const used = CONTROLLED.filter(
    (each) => (!each.method || each.method === method) && valueOf(each) !== each.control.blank,
  );
  const chosen = Object.fromEntries(used.map((each) => [each.name, valueOf(each)]));
  return method === AUTOMATIC ? chosen : { method, ...chosen };
};
