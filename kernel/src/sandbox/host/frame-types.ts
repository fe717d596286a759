import { frame } from "../../platform/children/frames.ts";

/** The frame types between kernel and sandbox host, besides control messages. The stream is the guest's number. */
export const frameType = {
  /** Kernel → host: bytes for a guest's stdin. */
  stdin: 2,
  /** Host → kernel: bytes of a guest's stdout. */
  stdout: 3,
  /** Host → kernel: u32, the number of stdin bytes that the guest has read. */
  stdinTaken: 4,
  /** Kernel → host: u32, the number of further stdout bytes that may be sent. */
  stdoutCredit: 5,
  /** Host → kernel: text of a guest's stderr. */
  stderr: 6,
  /** Host → kernel: f64 CPU time in ms, f64 memory in bytes, u8 whether the guest is computing. */
  usage: 7,
} as const;

export interface UsageSample {
  /** CPU time of the guest's own thread since the guest began. */
  readonly cpuTimeMs: number;
  /** Linear memory. It never shrinks, so this is also its peak. */
  readonly memoryBytes: number;
  /** False while the guest waits for input or for a timer. */
  readonly isComputing: boolean;
}

export function usageFrame(guest: number, sample: UsageSample): Uint8Array[] {
  const payload = new Uint8Array(17);
  const out = view(payload);
  out.setFloat64(0, sample.cpuTimeMs, true);
  out.setFloat64(8, sample.memoryBytes, true);
  out.setUint8(16, sample.isComputing ? 1 : 0);
  return frame(frameType.usage, guest, payload);
}

export function readUsage(payload: Uint8Array): UsageSample {
  const from = view(payload);
  return {
    cpuTimeMs: from.getFloat64(0, true),
    memoryBytes: from.getFloat64(8, true),
    isComputing: from.getUint8(16) === 1,
  };
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
