/** How a call is made that only reads, waits or calls a tool. */
export interface CallOptions {
  /**
   * Cancels the call: it rejects with the LaresError `RequestCancelled`, unless its answer was on the way already. What a
   * tool that was called does about it is its own: its `ctx.signal` is aborted.
   */
  readonly signal?: AbortSignal;
}
