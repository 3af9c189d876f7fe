/* The list of models that the server fetches from the hub when one is chosen: what it says, and
   what it is asked. */

import type { Answer } from "./server";

/** A model of the list; sizes in bytes. */
export interface HubModel {
  /** What the page calls it as a direction. */
  name: string;
  id: string;
  size: number;
  licence: string;
  /** Source and target; none for a model with many. */
  languages: string[];
  /** "fetching", "here", or "": it can be fetched. */
  state: string;
  done: number;
  /** Why it was not fetched; "": nobody tried, or it was stopped. */
  error: string;
}

/** `reached`: whether the hub answers; null: that is not known yet. */
export interface HubList {
  reached: boolean | null;
  models: HubModel[];
}

/** `page` is a name of the page's own making, by which its wish is told from another's. */
export interface HubRequest {
  name: string;
  page: string;
}

export interface HubServer {
  /** The list; the hub itself is asked only for one who looks at it. */
  hub_list(request: { looks: boolean }): Promise<Answer<HubList>>;
  hub_fetch(request: HubRequest): Promise<Answer<HubList>>;
  hub_stop(request: HubRequest): Promise<Answer<HubList>>;
}
