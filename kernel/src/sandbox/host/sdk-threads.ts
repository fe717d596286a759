import { Worker } from "node:worker_threads";
import { newObservation, openObservation, type Observation } from "./observation.ts";
import type { GuestEnds } from "./messages.ts";
import { siblingModule } from "../../platform/processes/sibling-module.ts";

/** A thread that is the SDK's, and what it shows of the guest in it. */
export interface SdkThread {
  readonly worker: Worker;
  readonly observation: Observation;
}

/** What such a thread is started with. */
export interface SdkThreadData {
  readonly observation: SharedArrayBuffer;
  /** The SDK's own entry for a thread, and the part of it that this loads later. */
  readonly entry: string;
  readonly later: string;
  /** Absent in a thread that runs no guest. */
  readonly ends?: GuestEnds;
}

/**
 * Puts our way of starting threads in the place where the SDK looks for it: it takes `globalThis.Worker`. Ours does
 * what the SDK's own adapter for Node does, with our observer loaded first; network and package cache are off, so
 * their messages are not served. The first thread runs the guest. It is started here at once, long before the SDK
 * asks for it: so the two threads load the SDK at the same time, not one after the other.
 */
export function installSdkThreads(
  ends: GuestEnds,
  sdkEntry: string,
  onFailure: (error: Error) => void,
): SdkThread {
  const guestThread = siblingModule(import.meta.url, "guest-thread");
  // Beside the SDK's entry; the one it would name itself is for a browser.
  const entry = new URL("./node-worker.js", sdkEntry).href;
  const later = new URL("../pkg/wasmer_sdk_js.js", sdkEntry).href;

  const startThread = (forGuest?: GuestEnds): SdkThread => {
    const observation = newObservation();
    const data: SdkThreadData = {
      observation,
      entry,
      later,
      ...(forGuest === undefined ? {} : { ends: forGuest }),
    };
    const worker = new Worker(guestThread, {
      name: forGuest === undefined ? "sdk" : "guest",
      workerData: data,
      transferList: forGuest === undefined ? [] : [forGuest.program],
      stdin: false,
    });
    return { worker, observation: openObservation(observation) };
  };

  const first = startThread(ends);
  let isFirstTaken = false;

  class ObservedWorker {
    onmessage: ((event: { data: unknown }) => void) | null = null;
    onerror: ((event: { message: string }) => void) | null = null;
    readonly #worker: Worker;
    #isEnding = false;

    constructor() {
      const { worker } = isFirstTaken ? startThread() : first;
      isFirstTaken = true;
      this.#worker = worker;
      worker.on("message", (data) => this.onmessage?.({ data }));
      worker.on("error", (error: Error) => this.#fail(error));
      worker.on("exit", (code) => {
        if (!this.#isEnding) this.#fail(new Error(`a thread of the sandbox ended with exit code ${code}`));
      });
    }

    postMessage(message: unknown): void {
      this.#worker.postMessage(message);
    }

    terminate(): void {
      this.#isEnding = true;
      void this.#worker.terminate();
    }

    #fail(error: Error): void {
      onFailure(error);
      this.onerror?.({ message: error.message });
    }
  }
  Object.defineProperty(globalThis, "Worker", { configurable: true, value: ObservedWorker });
  // Until the SDK has taken it.
  first.worker.on("error", (error) => {
    if (!isFirstTaken) onFailure(error);
  });
  return first;
}
