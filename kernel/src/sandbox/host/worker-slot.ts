import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { hostBounds as bounds } from "./bounds.ts";
import { ByteRing, newByteRing } from "./byte-ring.ts";
import type { FromWorker, GuestEnds, SdkModule, ToWorker } from "./messages.ts";
import { siblingModule } from "../../platform/files/sibling-module.ts";
const entry = siblingModule(import.meta.url, "guest-worker");

/** One worker thread: first spare, then used by one guest, then ended. It is never reused. */
export class WorkerSlot {
  /** The guest's stdin; the host writes to it. */
  readonly input = new ByteRing(newByteRing(bounds.pipeBytes));
  /** The guest's stdout; the host reads from it. */
  readonly output = new ByteRing(newByteRing(bounds.pipeBytes));
  readonly #worker: Worker;
  readonly #gone: Promise<void>;
  readonly #program: MessagePort;
  readonly #gate = new Int32Array(new SharedArrayBuffer(4));
  #onMessage: (message: FromWorker) => void = () => {};
  #early: FromWorker[] | null = [];
  #hasEnded = false;

  constructor(sdk: SdkModule) {
    const { port1, port2 } = new MessageChannel();
    this.#program = port1;
    const ends: GuestEnds = {
      input: this.input.buffer,
      output: this.output.buffer,
      program: port2,
      gate: this.#gate.buffer,
    };
    this.#worker = new Worker(entry, {
      workerData: { sdk, ends },
      transferList: [port2],
      stdin: false,
      name: "guest worker",
    });
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

  /** False after the worker reported that its guest has ended, or has ended itself. */
  get isAlive(): boolean {
    return !this.#hasEnded;
  }

  /** Delivers the one program that will run in it. */
  give(program: WebAssembly.Module): void {
    this.#program.postMessage(program);
    Atomics.store(this.#gate, 0, 1);
    Atomics.notify(this.#gate, 0);
  }

  /** Starts the flow of stderr. */
  open(): void {
    this.#post({ kind: "open" });
  }

  /** Delivers all earlier messages, then every new one. */
  listen(onMessage: (message: FromWorker) => void): void {
    this.#onMessage = onMessage;
    const early = this.#early ?? [];
    this.#early = null;
    for (const message of early) onMessage(message);
  }

  /** Terminates the thread, which is the only reliable way to stop a guest. */
  async end(): Promise<void> {
    this.input.close();
    this.output.close();
    this.#program.close();
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
