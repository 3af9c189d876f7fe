/* What the lesson is told: its course once a language, a station each time. `translator/ui/lesson`
   makes it. */

import type { Answer } from "./server";

/** Code of our own that does what a station tells of. */
export interface Excerpt {
  name: string;
  path: string;
  line: number;
  code: string;
}

export interface Station {
  name: string;
  title: string;
  intro: string;
  code: Excerpt[];
  /** The question, its answers, the place of the right one, and why it is. */
  ask: string;
  options: string[];
  right: number;
  why: string;
}

export interface Course {
  stations: Station[];
  /** English to the lesson's own words. */
  words: Record<string, string>;
}

/** Something to turn at a station. */
export interface Control {
  name: string;
  kind: "choice" | "range" | "number";
  value: string | number;
  /** Of a choice: each value and its name. */
  choices: [value: string | number, text: string][];
  low?: number;
  high?: number;
  step?: number;
}

/** What became of the sentence at a station. */
export interface StationAnswer {
  views: { name: string; tensor: string; shape: number[] }[];
  /** The name of the view that is drawn. */
  view: string;
  figure: string;
  numbers: Record<string, string>;
  texts: Record<string, string>;
  controls: Control[];
}

export interface LessonServer {
  course(request: { language: string }): Promise<Answer<Course>>;
  station(request: {
    station: string;
    text: string;
    direction: string;
    options: Record<string, string | number>;
    view: string;
  }): Promise<Answer<StationAnswer>>;
}
