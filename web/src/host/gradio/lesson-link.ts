/* A link to a station of the lesson opens its tab. */

import { tables } from "../../i18n/language";
import { stationInLink } from "../../state/permalink";

const LESSON_TAB = "lesson-tab";
const TRIES = 100;
const BETWEEN = 100; // ms

/** Open the tab as soon as Gradio has drawn the tabs; on a narrow page it may stand in their menu. */
export const followLesson = (tries = 0): void => {
  if (!stationInLink()) return;
  const names = ["Lesson", ...Object.values(tables()).map((table) => table.Lesson)];
  const menu = [...document.querySelectorAll<HTMLElement>("#tabs .overflow-dropdown button")].find(
    (button) => names.includes(button.textContent.trim()),
  );
  const tab = document.querySelector<HTMLElement>(`#tabs button[data-tab-id="${LESSON_TAB}"]`);
  (tab || menu)?.click();
  if (tries < TRIES && !document.querySelector(".lx"))
    setTimeout(() => followLesson(tries + 1), BETWEEN);
};
