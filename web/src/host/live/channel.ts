/* A value that a component watches, as the served page has it from Gradio. */

export interface Channel {
  props: { value: string };
  watch: (name: string, listener: () => void) => void;
  /** Another value. */
  tell: (value: string) => void;
  /** An answer as a value that none had before. */
  send: (message: object) => void;
}

export const channel = (): Channel => {
  const listeners: (() => void)[] = [];
  const props = { value: "" };
  let number = 0;
  const tell = (value: string) => {
    props.value = value;
    for (const listener of listeners) listener();
  };
  return {
    props,
    watch: (_, listener) => listeners.push(listener),
    tell,
    send: (message) => tell(JSON.stringify({ ...message, number: ++number })),
  };
};
