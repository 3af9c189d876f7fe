/*
 * The scene that is played: whose theme, styles and language hold at this moment. Whatever begins
 * to run for an explorer that has a scene of its own enters it first; without any, the scene is the
 * page.
 */

/** For each language but English: the English sentence, and its own. */
export type Tables = Record<string, Record<string, string>>;

export interface Scene {
  /** Where the theme's class and the style variables are read; null: the page's body. */
  root: HTMLElement | null;
  /** Of the root, in pixels, as it was last laid out; 0: not known, or the page's. */
  width: number;
  /** Code of the language; null: what the visitor chose for the page, or else the browser's. */
  language: string | null;
  /** null: the page's. */
  tables: Tables | null;
}

/** The page's own scene. */
export const PAGE: Scene = { root: null, width: 0, language: null, tables: null };
let scene: Scene = PAGE;

export const enter = (next: Scene): void => {
  scene = next;
};
export const playing = (): Scene => scene;
export const sceneRoot = (): HTMLElement => scene.root ?? document.body;
