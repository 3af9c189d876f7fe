/* A translation while it is being written. */

import { floatsOf } from "../protocol/decode";
import type { Kind, Step, StepPayload, TracePayload } from "../protocol/messages";
import { type Maps, Translation } from "./translation";

/** What a step tells of a whole translation. */
const begun = (message: StepPayload): TracePayload => {
  const [layers, heads, columns] = message.shape;
  const none = [0, 0, 0, 0] as const;
  return {
    ...message,
    kind: "trace",
    shapes: { encoder: [...none], decoder: [...none], cross: [layers, heads, 0, columns] },
    weights: { encoder: "", decoder: "", cross: "" },
    rollout: "",
    encoding: "u16",
    tgt: [],
    steps: [],
  } as unknown as TracePayload;
};

/**
 * A translation while it is written: cross rows only, one a step; a row that was missed stays
 * empty.
 */
export class LiveTranslation extends Translation {
  override readonly live = true;
  private readonly rowsSeen: Float32Array[] = [];
  private readonly stepsSeen: Step[] = [];
  private logProbs: number[] = [];

  constructor(message: StepPayload) {
    super(begun(message));
  }

  add(message: StepPayload): void {
    this.rowsSeen[message.index] = floatsOf(message.cross, "u16");
    this.stepsSeen[message.index] = message.step;
    this.tgt = message.tgt;
    this.logProbs = message.log_probs;
  }

  /** As it stands now; what is added later does not change it. */
  frozen(): Translation {
    const { layers, heads, columns } = this.maps.cross;
    const rows = this.tgt.length;
    const values = new Float32Array(layers * heads * rows * columns);
    for (let t = 0; t < rows; t++) {
      const seen = this.rowsSeen[t];
      if (seen)
        for (let h = 0; h < layers * heads; h++)
          values.set(seen.subarray(h * columns, (h + 1) * columns), (h * rows + t) * columns);
    }
    const copy: Translation = Object.create(Object.getPrototypeOf(this));
    return Object.assign(copy, this, {
      maps: { cross: { layers, heads, rows, columns, values } } as Record<Kind, Maps>,
      reads: [this.start, ...this.tgt.slice(0, -1)],
      steps: this.tgt.map((_, i) => this.stepsSeen[i] || { lp: this.logProbs[i], h: 0, c: [] }),
    });
  }
}
