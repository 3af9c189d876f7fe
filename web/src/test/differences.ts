/* Where two messages differ: tests/ui/test_protocol.py's `differences`. */

/** What no two runs have in common. */
const CHANGING = new Set(["id", "seconds"]);
const CLOSE = 2e-4;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;

/** Places where one has what the other lacks, and where values differ by more than rounding. */
export const differences = (found: unknown, want: unknown, place = ""): string[] => {
  if (CHANGING.has(place.split(".").at(-1)!)) return [];
  if (isRecord(found) && isRecord(want) && Array.isArray(found) === Array.isArray(want)) {
    const names = new Set([...Object.keys(found), ...Object.keys(want)]);
    return [...names].flatMap((name) =>
      name in found && name in want
        ? differences(found[name], want[name], `${place}.${name}`)
        : CHANGING.has(name)
          ? []
          : [`${place}.${name} is only in one`],
    );
  }
  const close =
    typeof found === "number" && typeof want === "number"
      ? Math.abs(found - want) <= CLOSE * Math.max(1, Math.abs(want))
      : found === want;
  return close ? [] : [`${place}: ${String(found)}, not ${String(want)}`];
};

/** A message without some of its fields. */
export const without = (message: object, ...names: string[]): object =>
  Object.fromEntries(Object.entries(message).filter(([name]) => !names.includes(name)));
