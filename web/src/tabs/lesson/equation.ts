/* A station's equation. Gradio's Markdown has drawn all of them with the KaTeX that it brings; a
   copy stands here. */

const TRIES = 100; // looks for a drawn equation
const BETWEEN = 100; // ms

/** Once the equation of a station is drawn it comes into the box, if `isNow` still says so. */
export const showEquation = (
  box: HTMLElement,
  place: number,
  isNow: () => boolean,
  tries = 0,
): void => {
  const drawn = document.querySelectorAll("#lesson-equations .katex-display")[place];
  box.replaceChildren(...(drawn ? [drawn.cloneNode(true)] : []));
  const again = () => {
    if (isNow()) showEquation(box, place, isNow, tries + 1);
  };
  if (!drawn && tries < TRIES) setTimeout(again, BETWEEN);
};
