/**
 * Entry of the thread in which the SDK runs a guest. Before it loads the SDK's own entry, it wraps the guest's
 * imports with an observer, because the SDK does not show a guest's memory or whether the guest waits. It also
 * replaces stdin and stdout.
 *
 * The SDK is given a stand-in module. When the SDK instantiates it, this thread waits for the compiled program and
 * instantiates that instead. So everything before that point can be done before the program is known.
 */
import "./without-fetch.ts";
import { receiveMessageOnPort, workerData } from "node:worker_threads";
import { ByteRing } from "./byte-ring.ts";
import { pipeCalls, type SdkCalls } from "./guest-pipes.ts";
import type { GuestEnds } from "./messages.ts";
import { ownThreadId } from "../../platform/processes/thread-priority.ts";
import { guestState, openObservation, slot, time } from "./observation.ts";
import type { SdkThreadData } from "./sdk-threads.ts";

const { observation, ends, entry, later } = workerData as SdkThreadData;
const { slots, times } = openObservation(observation);
Atomics.store(slots, slot.threadId, ownThreadId() ?? 0);
const wasiModule = "wasi_snapshot_preview1";

/** Calls in which a guest may wait: for input, for room in its output, or for a timer. */
const mayWait = new Set(["fd_read", "fd_write", "poll_oneoff"]);

type HostFunction = (...parameters: unknown[]) => unknown;

WebAssembly.Instance = new Proxy(WebAssembly.Instance, {
  construct(target, [module, imports]: [WebAssembly.Module, Record<string, Record<string, unknown>>]) {
    const functions = imports?.[wasiModule];
    if (functions === undefined) return new target(module, imports);
    if (ends === undefined) throw new TypeError("This thread does not belong to the guest.");
    const input = new ByteRing(ends.input);
    const output = new ByteRing(ends.output);
    let memory: WebAssembly.Memory | undefined;
    const noteMemory = (): void => {
      if (memory !== undefined) Atomics.store(slots, slot.pages, memory.buffer.byteLength / 65_536);
    };
    const theirMemory = (): WebAssembly.Memory => {
      if (memory === undefined) throw new TypeError("The guest has no memory.");
      return memory;
    };
    // The SDK's import object has the guest's imports under WASI's names.
    const sdkCalls = functions as unknown as SdkCalls;
    const calls = { ...functions, ...pipeCalls(sdkCalls, input, output, theirMemory) };
    const observed = Object.fromEntries(
      Object.entries(calls).map(([name, value]) => [
        name,
        typeof value === "function" ? observe(name, value as HostFunction, noteMemory) : value,
      ]),
    );
    const program = receiveProgram(ends);
    const instance = new target(program, { ...imports, [wasiModule]: observed });
    if (instance.exports["memory"] instanceof WebAssembly.Memory) memory = instance.exports["memory"];
    noteMemory();
    noteCpu(time.cpuBefore);
    Atomics.store(slots, slot.state, guestState.computing);
    wake();
    lookAfter(instance.exports["_start"], () => {
      noteMemory();
      noteCpu(time.cpuAfter);
    });
    return instance;
  },
});

function noteCpu(at: number): void {
  const { user, system } = process.threadCpuUsage();
  times[at] = user + system;
}

/** The SDK calls the program's entry through this, so that the program's calls may suspend. */
interface Suspending {
  promising(entry: unknown): (...parameters: unknown[]) => Promise<unknown>;
}

/** Records usage after the program's last call, including when it traps; no import call would show that. */
function lookAfter(entry: unknown, look: () => void): void {
  const suspending = WebAssembly as unknown as Suspending;
  const { promising } = suspending;
  suspending.promising = (called) => {
    const run = promising(called);
    return called === entry ? (...parameters) => run(...parameters).finally(look) : run;
  };
}

/** Blocks until the program arrives, without returning to this thread's event loop. */
function receiveProgram({ gate, program }: GuestEnds): WebAssembly.Module {
  const slots = new Int32Array(gate);
  while (Atomics.load(slots, 0) === 0) Atomics.wait(slots, 0, 0);
  const received: unknown = receiveMessageOnPort(program)?.message;
  if (!(received instanceof WebAssembly.Module)) throw new TypeError("The guest received no program.");
  return received;
}

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
// The SDK's init would load this module on demand.
await import(later);
