/* The explorer as a module of its own, which brings its style sheet: for notebooks and pages of
   others. */

import style from "virtual:style";
import {
  type ComparisonHandle,
  type ComparisonMountOptions,
  type Handle,
  type MountOptions,
  mount as place,
  mountComparison as placeComparison,
} from "./host/mount";
import { useStyle } from "./host/style";

export type { ComparisonHandle, ComparisonMountOptions, Handle, MountOptions } from "./host/mount";

/** What `place` puts somewhere, with the style sheet for as long as it is there. */
const styled = <H extends { destroy(): void }>(place: () => H): H => {
  const release = useStyle(style);
  const handle = place();
  return {
    ...handle,
    destroy: () => {
      handle.destroy();
      release();
    },
  };
};

/** Put an explorer into an element; what is given back takes it away again, with its styles. */
export const mount = (element: HTMLElement, options: MountOptions = {}): Handle =>
  styled(() => place(element, options));

/**
 * Put two translations beside each other into an element; what is given back takes them away again.
 */
export const mountComparison = (
  element: HTMLElement,
  options: ComparisonMountOptions,
): ComparisonHandle => styled(() => placeComparison(element, options));
