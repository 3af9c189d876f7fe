/* Frames of the display that nobody needs. */

/** How a stack ends that was begun by a frame of Gradio's module with the loading sign's clock. */
const BY_CLOCK = /^(Error[^\n]*\n)?[^\n]*\n[^\n]*\/statustracker-[^\n]*\n?$/;
const AT_MOST = 10_000; // ms that a clock is looked for, and after each that is found another

/**
 * End what Gradio asks for in every frame for ever: the clock of its sign that the page loads,
 * which goes on when the sign is gone. Clocks of its other signs, none of which is shown, end too.
 *
 * Gradio's module holds on to the browser's own function, so nothing can stand between. But a
 * clock asks what time it is before it asks for its next frame, and requests are numbered. Whoever
 * else asks for every frame, as a browser's extensions do, is left alone.
 */
export const endLoadingClock = (): void => {
  const time = performance; // somebody may put others in the place of these
  const { now } = time;
  const ask = requestAnimationFrame;
  const cancel = cancelAnimationFrame;
  const done = () => {
    if (time.now === told) time.now = now;
  };
  const late = () => {
    if (document.hidden)
      timer = setTimeout(late, AT_MOST); // no frames come
    else done();
  };
  const told = (): number => {
    if (BY_CLOCK.test(new Error().stack ?? "")) {
      clearTimeout(timer);
      timer = setTimeout(late, AT_MOST); // before: a stand-in clock may number both in one row
      const last = ask(() => {});
      cancel(last);
      queueMicrotask(() => cancel(last + 1));
    }
    return now.call(time);
  };
  time.now = told;
  let timer = setTimeout(late, AT_MOST);
};
