/* What an exported site says of itself: data.js, which `translator.ui.live.site` writes. */

import { directionInSearch } from "../../state/direction";
import { fragment } from "../../state/kept";
import { pairOf } from "../../state/pair";
import { pageData } from "../../tabs/page";

/** A checkpoint of the site as the page offers it. */
export interface Offer {
  /** Its name, by which links and examples call it. */
  direction: string;
  /** As it stands on the page. */
  label: string;
  /** Bytes that translating with it takes, all files together. */
  size: number;
}

export interface Site {
  /** A hash of what the page consists of; another one is another page. */
  version: string;
  offers: Offer[];
  /** This software for a bibliography, as BibTeX. */
  citation: string;
}

/** The site that this page belongs to. */
export const site = (): Site => pageData().site as Site;

/** What the page offers under this name. */
export const offerOf = (direction: string): Offer | undefined =>
  site().offers.find((offer) => offer.direction === direction);

/**
 * The direction that the page opens with: the one that its address or else the browser's language
 * asks for, if it is offered.
 */
export const opensWith = (): string => {
  const { directions } = pageData();
  const asked =
    directionInSearch(location.search, directions) ?? pairOf(navigator.language, directions);
  return asked && directions.includes(asked) ? asked : directions[0]!;
};

/** Whether the address holds a sentence of its own. */
export const linked = (): boolean => new URLSearchParams(fragment().slice(1)).has("t");
