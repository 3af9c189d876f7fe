/* Frames of the display that nobody needs. */

const STEADY = 60; // frames in a row
const AT_MOST = 600; // frames that are looked at

/**
 * End what Gradio asks for in every frame for ever: the clock of its sign that the page loads,
 * which goes on when the sign is gone.
 *
 * Nothing names that request, but requests are numbered: where `STEADY` frames in a row each
 * brought one that is not of our scripts, the last is taken back, and with it all that would
 * follow.
 */
export const endLoadingClock = (): void => {
  const ask = window.requestAnimationFrame;
  const ours = new Set<number>();
  let last = 0;
  let streak = 0;
  let left = AT_MOST;
  window.requestAnimationFrame = (run) => {
    const id = ask.call(window, run);
    ours.add(id);
    return id;
  };
  const look = () => {
    const id = ask.call(window, look);
    const others: number[] = [];
    for (let each = last + 1; last && each < id; each++) if (!ours.has(each)) others.push(each);
    streak = others.length === 1 ? streak + 1 : 0;
    last = id;
    ours.clear();
    if (streak < STEADY && --left) return;
    if (streak >= STEADY) cancelAnimationFrame(others[0]);
    cancelAnimationFrame(id);
    window.requestAnimationFrame = ask;
  };
  ask.call(window, look);
};
