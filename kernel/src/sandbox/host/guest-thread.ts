/**
 * Entry of the thread that the SDK runs a guest in. Before the SDK's own entry it puts an observer around the
 * guest's imports: the SDK offers no way to see a guest's memory or whether it waits. Its stdin and stdout are ours.
 */
import { workerData } from "node:worker_threads";
import { ByteRing } from "./byte-ring.ts";
import { pipeCalls, type SdkCalls } from "./guest-pipes.ts";
import type { GuestPipes } from "./messages.ts";
import { cpuBefore, guestState, openObservation, slot } from "./observation.ts";

interface ThreadData {
  readonly observation: SharedArrayBuffer;
  /** The guest's stdin and stdout. */
  readonly pipes: GuestPipes;
  readonly entry: string;
}

const { observation, pipes, entry } = workerData as ThreadData;
const input = new ByteRing(pipes.input);
const output = new ByteRing(pipes.output);
const { slots, times } = openObservation(observation);
const wasiModule = "wasi_snapshot_preview1";

/** Calls in which a guest may wait: for input, for room in its output, for time to pass. */
const mayWait = new Set(["fd_read", "fd_write", "poll_oneoff"]);

type HostFunction = (...parameters: unknown[]) => unknown;

WebAssembly.Instance = new Proxy(WebAssembly.Instance, {
  construct(target, [module, imports]: [WebAssembly.Module, Record<string, Record<string, unknown>>]) {
    const functions = imports?.[wasiModule];
    if (functions === undefined) return new target(module, imports);
    let memory: WebAssembly.Memory | undefined;
    const noteMemory = (): void => {
      if (memory !== undefined) Atomics.store(slots, slot.pages, memory.buffer.byteLength / 65_536);
    };
    const theirMemory = (): WebAssembly.Memory => {
      if (memory === undefined) throw new TypeError("The guest has no memory.");
      return memory;
    };
    // The SDK's import object has what the guest imports, by WASI's names.
    const sdkCalls = functions as unknown as SdkCalls;
    const calls = { ...functions, ...pipeCalls(sdkCalls, input, output, theirMemory) };
    const observed = Object.fromEntries(
      Object.entries(calls).map(([name, value]) => [
        name,
        typeof value === "function" ? observe(name, value as HostFunction, noteMemory) : value,
      ]),
    );
    const instance = new target(module, { ...imports, [wasiModule]: observed });
    if (instance.exports["memory"] instanceof WebAssembly.Memory) memory = instance.exports["memory"];
    noteMemory();
    const { user, system } = process.threadCpuUsage();
    times[cpuBefore] = user + system;
    Atomics.store(slots, slot.state, guestState.computing);
    wake();
    return instance;
  },
});

function observe(name: string, call: HostFunction, noteMemory: () => void): HostFunction {
  if (!mayWait.has(name)) {
    return (...parameters) => {
      noteMemory();
      return call(...parameters);
    };
  }
  return (...parameters) => {
    noteMemory();
    Atomics.store(slots, slot.state, guestState.waiting);
    try {
      return call(...parameters);
    } finally {
      Atomics.store(slots, slot.state, guestState.computing);
      wake();
    }
  };
}

function wake(): void {
  Atomics.add(slots, slot.wakes, 1);
  if (Atomics.exchange(slots, slot.isAwaited, 0) === 1) Atomics.notify(slots, slot.wakes);
}

await import(entry);
