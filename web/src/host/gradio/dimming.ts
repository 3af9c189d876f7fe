/* What is shown is dimmed where the fields ask for something else. */

import type { Explorer } from "../../tabs/explorer/explorer";
import { direction, field } from "./fields";

/**
 * The result as soon as the text differs; all of it under another direction, or where the text was
 * refused (`all`).
 * True: under another direction.
 */
export const dim = ({ trace }: Explorer, all = false): boolean => {
  const shown = !!trace && !trace.live;
  const other = shown && direction() !== trace.direction;
  const text = field("source-text")?.value ?? "";
  const differs = shown && (other || text !== trace.source);
  document.body.classList.toggle("other-text", differs);
  document.body.classList.toggle("other-pair", shown && (other || all));
  return other;
};
