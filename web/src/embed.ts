/* The explorer as a module of its own, which brings its style sheet: for notebooks and pages of others. */

import style from "virtual:style";
import { type Handle, type MountOptions, mount as place } from "./host/mount";
import { useStyle } from "./host/style";

export type { Handle, MountOptions } from "./host/mount";

/** Put an explorer into an element; what is given back takes it away again, with its styles. */
export const mount = (element: HTMLElement, options: MountOptions = {}): Handle => {
  const release = useStyle(style);
  const handle = place(element, options);
  return {
    ...handle,
    destroy: () => {
      handle.destroy();
      release();
    },
  };
};
