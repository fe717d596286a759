/**
 * Collects the heap once, in a separate turn of the loop: V8 lets a heap that was never collected grow by tens of
 * megabytes of garbage, and sizes it accordingly from then on. Does nothing if the process was started without
 * `gc`.
 */
export async function settleHeap(): Promise<void> {
  await globalThis.gc?.({ type: "major", execution: "async" });
}
