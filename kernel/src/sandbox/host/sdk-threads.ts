import { Worker } from "node:worker_threads";
import { newObservation, openObservation, type Observation } from "./observation.ts";
import type { GuestEnds } from "./messages.ts";
import { siblingModule } from "../../platform/files/sibling-module.ts";

/** A thread of the SDK, with the observation of the guest in it. */
export interface SdkThread {
  readonly worker: Worker;
  readonly observation: Observation;
}

/** The start data of such a thread. */
export interface SdkThreadData {
  readonly observation: SharedArrayBuffer;
  /** The SDK's own entry for a thread, and the module that the entry loads later. */
  readonly entry: string;
  readonly later: string;
  /** Absent in a thread that runs no guest. */
  readonly ends?: GuestEnds;
}

/**
 * Replaces `globalThis.Worker`, with which the SDK starts threads. The replacement does what the SDK's own adapter
 * for Node.js does, but loads our observer first; network and package cache are off, so their messages are not
 * served. The first thread runs the guest. It is started at once, long before the SDK requests it, so that both
 * threads load the SDK at the same time.
 */
export function installSdkThreads(
  ends: GuestEnds,
  sdkEntry: string,
  onFailure: (error: Error) => void,
): SdkThread {
  const guestThread = siblingModule(import.meta.url, "guest-thread");
  // The SDK's entry for Node.js; by default the SDK names one for browsers.
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
  // Handles errors until the SDK takes the thread.
  first.worker.on("error", (error) => {
    if (!isFirstTaken) onFailure(error);
  });
  return first;
}
