import { Slices } from "../../base/slices.ts";

/** Milliseconds that all work on documents together may hold the event loop before everything else has a turn. */
const sliceMs = 8;

/** One for the process, because the event loop is one: 256 manifests at once share a slice. */
const slices = new Slices({ monotonic: () => performance.now() }, sliceMs);

/** Work that yields between pieces whose size is bounded, so that its caller decides when to go on. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Runs all steps at once. For texts whose size the caller knows. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Runs the steps in slices of time, with a turn of the event loop between two slices. */
export async function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  await slices.begin();
  for (;;) {
    const step = steps.next();
    // After the last one too: whoever goes on with the result has work of its own.
    if (!slices.hasTime) await slices.next();
    if (step.done === true) return step.value;
  }
}

/** Resolves at once while the current slice has time left, else in a later turn of the event loop. */
export function nextTurn(): Promise<void> {
  return slices.begin();
}
