/**
 * Entry of the thread that the SDK runs a guest in. Before the SDK's own entry it puts an observer around the
 * guest's imports: the SDK offers no way to see a guest's memory or whether it waits. Its stdin and stdout are ours.
 *
 * The SDK was given a stand-in. In the moment in which it would be instantiated, this thread waits for the compiled
 * program and instantiates that: so all that comes before can be done before anybody knows which program it will be.
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

/** Calls in which a guest may wait: for input, for room in its output, for time to pass. */
const mayWait = new Set(["fd_read", "fd_write", "poll_oneoff"]);

type HostFunction = (...parameters: unknown[]) => unknown;

WebAssembly.Instance = new Proxy(WebAssembly.Instance, {
  construct(target, [module, imports]: [WebAssembly.Module, Record<string, Record<string, unknown>>]) {
    const functions = imports?.[wasiModule];
    if (functions === undefined) return new target(module, imports);
    if (ends === undefined) throw new TypeError("This thread is not the guest's.");
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
    // The SDK's import object has what the guest imports, by WASI's names.
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

/** The SDK calls the program's entry by way of this, so that its calls may wait. */
interface Suspending {
  promising(entry: unknown): (...parameters: unknown[]) => Promise<unknown>;
}

/** What a program takes between its last call and its end, a trap too, no call of it would show. */
function lookAfter(entry: unknown, look: () => void): void {
  const suspending = WebAssembly as unknown as Suspending;
  const { promising } = suspending;
  suspending.promising = (called) => {
    const run = promising(called);
    return called === entry ? (...parameters) => run(...parameters).finally(look) : run;
  };
}

/** Waits for it, without a turn of this thread's loop. */
function receiveProgram({ gate, program }: GuestEnds): WebAssembly.Module {
  const slots = new Int32Array(gate);
  while (Atomics.load(slots, 0) === 0) Atomics.wait(slots, 0, 0);
  const received: unknown = receiveMessageOnPort(program)?.message;
  if (!(received instanceof WebAssembly.Module)) throw new TypeError("There is no program for the guest.");
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
// Its init would load this, when the SDK asks for it.
await import(later);
