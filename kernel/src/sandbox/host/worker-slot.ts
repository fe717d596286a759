import { Worker } from "node:worker_threads";
import { hostBounds as bounds } from "./bounds.ts";
import { ByteRing, newByteRing } from "./byte-ring.ts";
import type { FromWorker, GuestPipes, ToWorker } from "./messages.ts";
import { siblingModule } from "../../platform/sibling-module.ts";
const entry = siblingModule(import.meta.url, "guest-worker");

/** The SDK as every worker loads it. */
export interface SdkModule {
  readonly entry: string;
  readonly compiled: WebAssembly.Module;
}

/** One worker thread: first spare, then a guest's, then gone. Never used twice. */
export class WorkerSlot {
  /** The guest's stdin: written here. */
  readonly input = new ByteRing(newByteRing(bounds.pipeBytes));
  /** Its stdout: read here. */
  readonly output = new ByteRing(newByteRing(bounds.pipeBytes));
  readonly #worker: Worker;
  readonly #gone: Promise<void>;
  #onMessage: (message: FromWorker) => void = () => {};
  #early: FromWorker[] | null = [];
  #program: string | null = null;
  #hasEnded = false;

  constructor(sdk: SdkModule) {
    const pipes: GuestPipes = { input: this.input.buffer, output: this.output.buffer };
    this.#worker = new Worker(entry, { workerData: { sdk, pipes }, stdin: false, name: "guest worker" });
    this.#worker.on("message", (message: FromWorker) => this.#receive(message));
    this.#worker.on("error", (error: Error) =>
      this.#receive({ kind: "exited", reason: `The sandbox failed: ${error.message}.` }),
    );
    this.#gone = new Promise((resolve) =>
      this.#worker.once("exit", () => {
        this.#receive({ kind: "exited", reason: "The sandbox's worker ended." });
        resolve();
      }),
    );
  }

  /** The program it was told to load. */
  get program(): string | null {
    return this.#program;
  }

  /** False once it reported that its guest is gone, or it is gone itself. */
  get isAlive(): boolean {
    return !this.#hasEnded;
  }

  load(key: string, program: Uint8Array): void {
    this.#program = key;
    this.#post({ kind: "load", program });
  }

  /** Lets its stderr flow. */
  open(): void {
    this.#post({ kind: "open" });
  }

  /** Hears everything it said so far, then everything it says. */
  listen(onMessage: (message: FromWorker) => void): void {
    this.#onMessage = onMessage;
    const early = this.#early ?? [];
    this.#early = null;
    for (const message of early) onMessage(message);
  }

  /** The only true stop, whatever the guest is doing. */
  async end(): Promise<void> {
    this.input.close();
    this.output.close();
    void this.#worker.terminate();
    await this.#gone;
  }

  #post(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  #receive(message: FromWorker): void {
    if (message.kind === "exited") {
      if (this.#hasEnded) return;
      this.#hasEnded = true;
    }
    if (this.#early === null) this.#onMessage(message);
    else this.#early.push(message);
  }
}
