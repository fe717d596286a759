import { Worker } from "node:worker_threads";
import { guestState, newObservation, openObservation, type Observation, slot } from "./observation.ts";
import type { GuestPipes } from "./messages.ts";
import { siblingModule } from "../../platform/sibling-module.ts";

/** A thread the SDK started, and what it shows of the guest in it. */
export interface SdkThread {
  readonly worker: Worker;
  readonly observation: Observation;
}

const threads: SdkThread[] = [];

/** The thread a guest runs in, once there is one. */
export function guestThread(): SdkThread | undefined {
  return threads.find(({ observation }) => Atomics.load(observation.slots, slot.state) !== guestState.none);
}

/**
 * Puts our way of starting threads in the place where the SDK looks for it: it takes `globalThis.Worker` where
 * there is one. Ours does what the SDK's own adapter does, with our observer loaded first; network and package
 * cache are off, so their messages are not served.
 */
export function installSdkThreads(pipes: GuestPipes, onFailure: (error: Error) => void): void {
  const entry = siblingModule(import.meta.url, "guest-thread");

  class ObservedWorker {
    onmessage: ((event: { data: unknown }) => void) | null = null;
    onerror: ((event: { message: string }) => void) | null = null;
    readonly #worker: Worker;
    #isEnding = false;

    constructor(url: string | URL, options: { name?: string } = {}) {
      const observation = newObservation();
      const worker = new Worker(entry, {
        name: options.name ?? "guest",
        workerData: { observation, pipes, entry: String(url) },
      });
      this.#worker = worker;
      const thread = { worker, observation: openObservation(observation) };
      threads.push(thread);
      worker.on("message", (data) => this.onmessage?.({ data }));
      worker.on("error", (error: Error) => this.#fail(error));
      worker.on("exit", (code) => {
        threads.splice(threads.indexOf(thread), 1);
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
}
