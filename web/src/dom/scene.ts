/*
 * The scene that is played: whose theme, styles and language hold at this moment. Whatever begins to run for an explorer
 * that has a scene of its own enters it first; without any, the scene is the page.
 */

/** For each language but English: the English sentence, and its own. */
export type Tables = Record<string, Record<string, string>>;

export interface Scene {
  /** Where the theme's class and the style variables are read; null: the page's body. */
  root: HTMLElement | null;
  /** Code of the language; null: what the visitor chose for the page, or else the browser's. */
  language: string | null;
  /** null: the page's. */
  tables: Tables | null;
}

/** The page's own scene. */
export const PAGE: Scene = { root: null, language: null, tables: null };
let scene: Scene = PAGE;

export const enter = (next: Scene): void => {
  scene = next;
};
export const playing = (): Scene => scene;
export const sceneRoot = (): HTMLElement => scene.root ?? document.body;
