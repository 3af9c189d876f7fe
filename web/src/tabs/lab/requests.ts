/* Requests of the lab: each can be stopped while the server computes, and who waits no longer has
   it stopped. */

import { t } from "../../i18n/words";
import type { About, LabRequest, LabServer, Progress } from "../../protocol/lab";

/** The sentence that is asked about. */
export interface Subject {
  text: string;
  way: string;
  /** By which the server finds its translation again. */
  id: string | null;
  /** Of a question asked elsewhere: the translation that it is about. */
  target: number[] | null;
}

type Name = "lab_board" | "lab_switch" | "lab_ask";
type Request<N extends Name> = Omit<Parameters<LabServer[N]>[0], keyof LabRequest>;
type AnswerOf<N extends Name> = Awaited<ReturnType<LabServer[N]>>;

export interface Requests {
  subject: Subject;
  ask<N extends Name>(name: N, request: Request<N>): Promise<AnswerOf<N> | { error: string }>;
  leave(...names: Name[]): void;
  /** How far the present request of that name is. */
  progress(name: Name): Promise<Progress>;
}

/** `known` is told the translation that all questions are about. */
export const makeRequests = (server: LabServer, known: (translation: string) => void): Requests => {
  const subject: Subject = { text: "", way: "", id: null, target: null };
  const runs: Partial<Record<Name, string>> = {};
  const ask: Requests["ask"] = async <N extends Name>(name: N, request: Request<N>) => {
    const run = (runs[name] = Math.random().toString(36).slice(2));
    const { text, way, id, target } = subject;
    // Each name has its own request: the union of them is more than TypeScript follows.
    const call = server[name] as (request: object) => Promise<AnswerOf<N> & About>;
    try {
      const answer = await call({ text, direction: way, id, target, run, ...request });
      if (answer.id && text === subject.text && way === subject.way) {
        subject.id = answer.id;
        known(answer.translation ?? "");
      }
      return answer;
    } catch {
      return { error: t("No answer from the server. Please try again.") };
    } finally {
      if (runs[name] === run) delete runs[name];
    }
  };
  const leave = (...names: Name[]) => {
    for (const name of names) {
      const run = runs[name];
      if (run) server.lab_stop({ run }).catch(() => {});
    }
  };
  const progress = async (name: Name): Promise<Progress> => {
    const run = runs[name];
    return (run && (await server.lab_progress?.({ run }).catch(() => null))) || {};
  };
  return { subject, ask, leave, progress };
};
