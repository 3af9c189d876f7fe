/* A value that a component watches, as the served page has it from Gradio. */

/** Messages as they are, or figures as JSON. */
export interface Channel<V extends object | string> {
  props: { value: V | "" };
  watch: (name: string, listener: () => void) => void;
  /** Another value; who watches takes one that it has had for no other. */
  tell: (value: V) => void;
}

export const channel = <V extends object | string = object>(): Channel<V> => {
  const listeners: (() => void)[] = [];
  const props: Channel<V>["props"] = { value: "" };
  const tell = (value: V) => {
    props.value = value;
    for (const listener of listeners) listener();
  };
  return { props, watch: (_, listener) => listeners.push(listener), tell };
};
