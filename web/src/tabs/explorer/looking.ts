/* Maps that come when they are looked at: a choice waits for those that it shows. */

import { t } from "../../i18n/words";
import type { Kind, Place } from "../../protocol/messages";
import type { ExplorerServer } from "../../protocol/server";
import type { ExplorerContext, Signals } from "../../state/context";
import { type Held, makeHeld } from "../../state/held";
import { MAP_KEYS, type View } from "../../state/view";
import { missingOf } from "../../trace/parts";

type Patch = Partial<View & Signals>;
type Needs = Pick<ExplorerContext, "state" | "trace" | "root" | "signal" | "enter"> & {
  /** Layer and head of those that the kind has. */
  fitting(patch: Patch): Patch;
  apply(patch: Patch): void;
  notice(text: string, isError?: boolean): void;
};

export interface Looking extends Held<Patch> {
  /** Fetch the maps of some heads; null: they are there. */
  bring(kind: Kind, places: readonly Place[]): Promise<void> | null;
}

export const makeLooking = (x: Needs, server: ExplorerServer | null): Looking => {
  const bring: Looking["bring"] = (kind, places) => {
    const { trace } = x;
    const away = places.filter(([layer, head]) => !trace.has(kind, layer, head));
    if (!away.length || !server?.maps) return null;
    return server.maps(kind, away).then((sent) => trace.put(kind, away, sent));
  };
  const shownBy = (patch: Patch) => {
    if (!x.trace || x.trace.whole) return null;
    const view = { ...x.state, ...x.fitting(patch) };
    const coming = bring(view.kind, missingOf(x.trace, view));
    const done = () => x.root.removeAttribute("aria-busy");
    if (coming) x.root.setAttribute("aria-busy", "true");
    void coming?.then(done, done);
    return coming;
  };
  const held = makeHeld<Patch>({
    bring: shownBy,
    apply: (patch) => {
      if (!x.signal.aborted) x.apply(patch);
    },
    failed: () => {
      if (x.signal.aborted) return;
      x.enter();
      x.notice(t("No answer from the server. Please try again."), true);
      x.apply({ cell: x.state.cell }); // whoever is told of choices hears what is shown
    },
  });
  const onMaps = (patch: Patch) => MAP_KEYS.some((name) => name in patch);
  return {
    ...held,
    bring,
    set: (patch, then) => {
      if (!held.waits() || onMaps(patch)) return held.set(patch, then);
      x.apply(patch); // which map is shown does not depend on it
      then?.();
    },
  };
};
