/* Choices that wait for what they show: they are made together, in their order, once it is
   there. */

export interface HeldProps<P> {
  /** Fetch what a choice shows; null: it is there. */
  bring: (patch: P) => Promise<void> | null;
  apply: (patch: P) => void;
  /** It did not come: the choice is not made. */
  failed: (why: Error) => void;
}

export interface Held<P> {
  /** Whether a choice waits. */
  waits(): boolean;
  /** Make a choice, at once if it can be; `then` runs after it. */
  set(patch: P, then?: () => void): void;
}

export const makeHeld = <P extends object>({ bring, apply, failed }: HeldProps<P>): Held<P> => {
  let waiting: P | null = null;
  let thens: (() => void)[] = [];

  const wait = async (coming: Promise<void>): Promise<void> => {
    try {
      await coming;
    } catch (error) {
      waiting = null;
      thens = [];
      return failed(error as Error);
    }
    const patch = waiting!;
    const after = thens;
    waiting = null;
    thens = [];
    set(patch, () => after.forEach((run) => run()));
  };
  const set = (patch: P, then?: () => void): void => {
    if (waiting) {
      waiting = { ...waiting, ...patch };
      if (then) thens.push(then);
      return;
    }
    const coming = bring(patch);
    if (!coming) {
      apply(patch);
      then?.();
      return;
    }
    waiting = patch;
    if (then) thens.push(then);
    void wait(coming);
  };
  return { waits: () => waiting !== null, set };
};
