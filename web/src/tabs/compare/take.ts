/* What is taken away of a comparison: A, B and their difference as one picture. */

import { drawing, saveAs } from "../../dom/download";
import { cut } from "../../format/text";
import { t } from "../../i18n/words";
import type { ComparedView } from "../../state/compare-link";
import type { Picture } from "../../trace/picture";
import type { Translation } from "../../trace/translation";
import { mapsSvg } from "./figure";
import { SIDES, type Side } from "./said";

const LONG = 48; // letters of a translation in its title

export interface TakeProps {
  traces: Record<Side, Translation>;
  pictures: Record<Side, Picture>;
  /** The difference, where there is one. */
  joined: Picture | null;
  view: Readonly<Pick<ComparedView, "kind" | "layer" | "head">>;
}

export const saveComparison = async (format: "png" | "svg", props: TakeProps): Promise<void> => {
  const { traces, pictures, joined } = props;
  const { kind, layer, head } = props.view;
  const maps = SIDES.map((side) => ({
    picture: pictures[side],
    kind,
    palette: "house" as const,
    title: `${side.toUpperCase()}: ${cut(traces[side].translation, LONG)}`,
  }));
  const title = t("Difference, B − A");
  const third = joined && { picture: joined, kind, palette: "difference" as const, title };
  const text = await mapsSvg(third ? [...maps, third] : maps);
  const name = `compare-${kind}-L${layer + 1}H${head + 1}.${format}`;
  saveAs(name, await drawing(text, format));
};
