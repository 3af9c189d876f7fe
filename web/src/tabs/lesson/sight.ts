/* Whether a tab is seen: one that is not has no width. */

/** Tell whenever it comes into sight, or goes; at the beginning it is not seen. */
export const watchSight = (box: HTMLElement, changed: (visible: boolean) => void): void => {
  let visible = false;
  const look = () => {
    const now = box.clientWidth > 0;
    if (now === visible) return;
    visible = now;
    changed(now);
  };
  new ResizeObserver(look).observe(box);
};
