import { Slices } from "../../base/slices.ts";

/** Milliseconds that all document work together may block the event loop before it yields. */
const sliceMs = 8;

/** Shared by the process, because there is one event loop: 256 manifests at once share a slice. */
const slices = new Slices({ monotonic: () => performance.now() }, sliceMs);

/** Work that yields between bounded pieces, so that its caller decides when to continue. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Runs all steps synchronously. For texts of known size. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Runs the steps in time slices and yields to the event loop between them. */
export async function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  await slices.begin();
  for (;;) {
    const step = steps.next();
    // Also after the last step, because the caller continues with work of its own.
    if (!slices.hasTime) await slices.next();
    if (step.done === true) return step.value;
  }
}

/** Resolves immediately while the current slice has time left, else in a later turn of the event loop. */
export function nextTurn(): Promise<void> {
  return slices.begin();
}
