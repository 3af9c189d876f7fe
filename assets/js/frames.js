/* Frames of the display that nobody needs. */

/**
 * End what Gradio asks for in every frame for ever: the clock of its sign that the page loads, which goes on when the sign is gone.
 *
 * Nothing names that request, but requests are numbered: where `steady` frames in a row each brought one that is not of
 * our scripts, the last is taken back, and with it all that would follow. Looks at 600 frames.
 */
const endLoadingClock = (steady = 60) => {
  const ask = window.requestAnimationFrame, ours = new Set();
  let last = 0, streak = 0, left = 600;
  window.requestAnimationFrame = run => { const id = ask.call(window, run); ours.add(id); return id; };
  const look = () => {
    const id = ask.call(window, look), others = [];
    for (let each = last + 1; last && each < id; each++) if (!ours.has(each)) others.push(each);
    streak = others.length === 1 ? streak + 1 : 0;
    last = id;
    ours.clear();
    if (streak < steady && --left) return;
    if (streak >= steady) cancelAnimationFrame(others[0]);
    cancelAnimationFrame(id);
    window.requestAnimationFrame = ask;
  };
  ask.call(window, look);
};
