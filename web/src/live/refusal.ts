/* The errors that a visitor may meet; each message names the value and the remedy. */

/** What was asked for cannot be done: `InputError` of the Python package. */
export class Refusal extends Error {
  override name = "Refusal";
}

/** The visitor stopped the work. */
export class Cancelled extends Error {
  override name = "Cancelled";
}
