/**
 * Shared memory in which the thread that runs a guest shows its state to the worker beside it. It is written at
 * every call of the guest, so it can be read even while the guest spins.
 */
export interface Observation {
  readonly slots: Int32Array<SharedArrayBuffer>;
  readonly times: Float64Array<SharedArrayBuffer>;
}

export const slot = {
  /** One of `guestState`. */
  state: 0,
  /** Counts how often the guest returned from a call that may wait. */
  wakes: 1,
  /** Pages of linear memory. */
  pages: 2,
  /** 1 while the other thread waits for the next wake. */
  isAwaited: 3,
  /** The operating system's id of the thread; 0 if unknown. */
  threadId: 4,
} as const;

/** Indexes in `times`: CPU time that the thread had used, in microseconds. */
export const time = {
  /** Before the guest's first instruction. */
  cpuBefore: 0,
  /** After the guest's last instruction; 0 until then. */
  cpuAfter: 1,
} as const;

export const guestState = { none: 0, computing: 1, waiting: 2 } as const;

const slotCount = 6;
const slotBytes = slotCount * 4;
const timeCount = 2;

export function newObservation(): SharedArrayBuffer {
  return new SharedArrayBuffer(slotBytes + timeCount * 8);
}

export function openObservation(buffer: SharedArrayBuffer): Observation {
  return {
    slots: new Int32Array(buffer, 0, slotCount),
    times: new Float64Array(buffer, slotBytes, timeCount),
  };
}
