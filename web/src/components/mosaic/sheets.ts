/* Every kind's maps as small pictures, of which the tiles are drawn. */

import { cancelIdle, dark, whenIdle } from "../../dom/screen";
import type { Sheet } from "../../plot/cells";
import { tileImages } from "../../plot/tiles";
import type { Kind } from "../../protocol/messages";
import type { ExplorerContext } from "../../state/context";

type Needs = Pick<ExplorerContext, "signal" | "enter" | "state" | "trace" | "version" | "colours">;

/**
 * Every kind's maps as small pictures, several cells to a pixel by their largest weight, so that no
 * peak is lost.
 */
export const makeSheets = (x: Needs) => {
  let sheets = new Map<Kind, Sheet>();
  let state = "";
  let soon = 0;
  const of = (kind: Kind, tileWidth: number): Sheet => {
    const { scale, palette } = x.state;
    const limit = Math.max(24, Math.ceil(tileWidth * devicePixelRatio));
    const now = [scale, palette, dark(), limit, x.version].join();
    if (now !== state) {
      state = now;
      sheets = new Map();
    }
    const sheet = sheets.get(kind) ?? tileImages(x.trace, kind, x.colours(), limit, scale);
    sheets.set(kind, sheet);
    return sheet;
  };
  /** Make the other kinds' while there is nothing else to do, so that a switch finds them. */
  const prepare = (tileWidth: number) => {
    if (soon || x.trace.live) return;
    soon = whenIdle(() => {
      soon = 0;
      x.enter();
      if (x.trace.live) return;
      const next = (Object.keys(x.trace.maps) as Kind[]).find((kind) => !sheets.has(kind));
      if (!next) return;
      of(next, tileWidth);
      prepare(tileWidth);
    });
  };
  x.signal.addEventListener("abort", () => cancelIdle(soon));
  return { of, prepare };
};
