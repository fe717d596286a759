/**
 * Has the heap collected once, in a turn of the loop of its own: V8 lets one that never was grow by tens of megabytes of
 * what nobody uses, and goes by what is in use from then on. Nothing where the process was started without `gc`.
 */
export async function settleHeap(): Promise<void> {
  await globalThis.gc?.({ type: "major", execution: "async" });
}
