import type { ByteRing } from "./byte-ring.ts";

/** The errno values of WASI that are used here. */
const errno = { success: 0, badFileDescriptor: 8, fault: 21, invalid: 28 } as const;
const descriptor = { stdin: 0, stdout: 1 } as const;
const eventType = { clock: 0, read: 1, write: 2 } as const;
const sizes = { vector: 8, subscription: 48, event: 32 } as const;
const isAbsolute = 1;
/** The number of buffers of one read or write, and of subscriptions of one poll, that are processed. */
const maxParts = 1024;

/** WASI's calls. Parameters are addresses, counts or descriptors; the result is an errno. */
interface PipeCalls {
  fd_read(fd: number, vectors: number, count: number, answer: number): unknown;
  fd_write(fd: number, vectors: number, count: number, answer: number): unknown;
  fd_close(fd: number): unknown;
  poll_oneoff(subscriptions: number, events: number, count: number, answer: number): unknown;
}

/** The SDK's implementations. A function that the guest does not import may be missing; it is then never called. */
export interface SdkCalls extends PipeCalls {
  clock_time_get?(clock: number, precision: bigint, at: number): unknown;
}

/**
 * Implements WASI's calls on stdin and stdout over shared memory. They replace the SDK's pipes, which take many
 * times as long. Calls on other descriptors are passed on to the SDK. Every address comes from the guest and is
 * checked.
 */
export function pipeCalls(
  sdk: SdkCalls,
  input: ByteRing,
  output: ByteRing,
  memory: () => WebAssembly.Memory,
): PipeCalls {
  let isInputOpen = true;
  let isOutputOpen = true;
  let hasUnannounced = false;
  /**
   * Called before the guest waits. Until then its output stays in the ring, and the usage sampler announces it now
   * and then: the output of a guest that keeps computing arrives a little later, but no call costs a wake-up of its
   * own.
   */
  const announce = (): void => {
    if (!hasUnannounced) return;
    hasUnannounced = false;
    output.announce();
  };

  const fdRead: PipeCalls["fd_read"] = (fd, vectors, count, answer) => {
    if (fd !== descriptor.stdin) return sdk.fd_read(fd, vectors, count, answer);
    if (!isInputOpen) return errno.badFileDescriptor;
    const parts = vectorsAt(memory(), vectors, count);
    if (parts === null || !isInside(memory(), answer, 4)) return errno.fault;
    if (parts.some(({ length }) => length > 0)) {
      while (input.readable === 0 && !input.isClosed) {
        announce();
        input.waitReadable();
      }
    }
    let read = 0;
    for (const part of parts) read += input.read(part);
    viewOf(memory()).setUint32(answer >>> 0, read, true);
    return errno.success;
  };

  const fdWrite: PipeCalls["fd_write"] = (fd, vectors, count, answer) => {
    if (fd !== descriptor.stdout) return sdk.fd_write(fd, vectors, count, answer);
    if (!isOutputOpen) return errno.badFileDescriptor;
    const parts = vectorsAt(memory(), vectors, count);
    if (parts === null || !isInside(memory(), answer, 4)) return errno.fault;
    let written = 0;
    for (const part of parts) {
      for (let at = 0; at < part.length && !output.isClosed;) {
        const wrote = output.put(part.subarray(at));
        hasUnannounced ||= wrote > 0;
        if (wrote === 0) {
          announce();
          output.waitWritable();
        }
        at += wrote;
        written += wrote;
      }
    }
    viewOf(memory()).setUint32(answer >>> 0, written, true);
    return errno.success;
  };

  const fdClose: PipeCalls["fd_close"] = (fd) => {
    if (fd === descriptor.stdin && isInputOpen) {
      isInputOpen = false;
      input.close();
    }
    announce();
    if (fd === descriptor.stdout) isOutputOpen = false;
    return sdk.fd_close(fd);
  };

  const pollOneoff: PipeCalls["poll_oneoff"] = (subscriptions, events, count, answer) => {
    const from = subscriptions >>> 0;
    const to = events >>> 0;
    const total = count >>> 0;
    if (total === 0 || total > maxParts) return errno.invalid;
    if (
      !isInside(memory(), from, total * sizes.subscription) ||
      !isInside(memory(), to, total * sizes.event) ||
      !isInside(memory(), answer, 4)
    )
      return errno.fault;
    const asked = Array.from({ length: total }, (_, index) =>
      subscriptionAt(viewOf(memory()), from + index * sizes.subscription),
    );
    if (!asked.some(({ type, fd }) => type === eventType.read && fd === descriptor.stdin)) {
      announce();
      return sdk.poll_oneoff(subscriptions, events, count, answer);
    }
    /** Returns the milliseconds until a subscription's time. Absolute times are compared with the SDK's clock. */
    const delayOf = ({ clock, timeout, flags }: Subscription): number => {
      if ((flags & isAbsolute) === 0) return Number(timeout) / 1e6;
      // A guest that does not import the clock cannot compute an absolute time, so it does not wait.
      if (sdk.clock_time_get === undefined) return 0;
      // The memory for the results is unused until then.
      sdk.clock_time_get(clock, 1n, to);
      return Number(timeout - viewOf(memory()).getBigUint64(to, true)) / 1e6;
    };
    const clocks = asked.filter(({ type }) => type === eventType.clock).map(delayOf);
    const begunMs = performance.now();
    const isDue = (delayMs: number): boolean => performance.now() - begunMs >= delayMs;
    const dueMs = Math.min(...clocks);
    // A descriptor other than stdin is ready at once, even if only to report an error.
    const hasOther = asked.some(({ type, fd }) => type !== eventType.clock && fd !== descriptor.stdin);
    if (isInputOpen && !hasOther) {
      while (input.readable === 0 && !input.isClosed && !isDue(dueMs)) {
        announce();
        input.waitReadable(dueMs - (performance.now() - begunMs));
      }
    }
    let clockIndex = 0;
    let eventCount = 0;
    const view = viewOf(memory());
    for (const { userdata, type, fd } of asked) {
      const isStdin = type === eventType.read && fd === descriptor.stdin;
      if (type === eventType.clock && !isDue(clocks[clockIndex++] ?? 0)) continue;
      if (isStdin && input.readable === 0 && !input.isClosed && isInputOpen) continue;
      const isKnown =
        type === eventType.clock ||
        (isStdin && isInputOpen) ||
        (type === eventType.write && ((fd === descriptor.stdout && isOutputOpen) || fd === 2));
      const at = to + eventCount++ * sizes.event;
      view.setBigUint64(at, userdata, true);
      view.setUint16(at + 8, isKnown ? errno.success : errno.badFileDescriptor, true);
      view.setUint8(at + 10, type);
      view.setBigUint64(at + 16, BigInt(isStdin ? input.readable : 0), true);
      view.setUint16(at + 24, 0, true);
    }
    view.setUint32(answer >>> 0, eventCount, true);
    return errno.success;
  };

  return { fd_read: fdRead, fd_write: fdWrite, fd_close: fdClose, poll_oneoff: pollOneoff };
}

interface Subscription {
  readonly userdata: bigint;
  readonly type: number;
  readonly fd: number;
  readonly clock: number;
  /** Nanoseconds. */
  readonly timeout: bigint;
  readonly flags: number;
}

function subscriptionAt(view: DataView, at: number): Subscription {
  return {
    userdata: view.getBigUint64(at, true),
    type: view.getUint8(at + 8),
    fd: view.getUint32(at + 16, true),
    clock: view.getUint32(at + 16, true),
    timeout: view.getBigUint64(at + 24, true),
    flags: view.getUint16(at + 40, true),
  };
}

/** Returns the guest's buffers, at most `maxParts`; null if one lies outside of memory. */
function vectorsAt(memory: WebAssembly.Memory, at: number, count: number): Uint8Array[] | null {
  const start = at >>> 0;
  const total = Math.min(count >>> 0, maxParts);
  if (!isInside(memory, start, total * sizes.vector)) return null;
  const view = viewOf(memory);
  const parts: Uint8Array[] = [];
  for (let index = 0; index < total; index++) {
    const place = view.getUint32(start + index * sizes.vector, true);
    const length = view.getUint32(start + index * sizes.vector + 4, true);
    if (!isInside(memory, place, length)) return null;
    if (length > 0) parts.push(new Uint8Array(memory.buffer, place, length));
  }
  return parts;
}

function isInside(memory: WebAssembly.Memory, at: number, length: number): boolean {
  return (at >>> 0) + length <= memory.buffer.byteLength;
}

function viewOf(memory: WebAssembly.Memory): DataView {
  return new DataView(memory.buffer);
}
