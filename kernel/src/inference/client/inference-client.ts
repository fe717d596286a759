import { messageOf } from "../../base/errors.ts";
import type { Embedded } from "../../memory-contract/store-port.ts";
import type { OnnxModel } from "../../memory-contract/store-settings.ts";
import { ChildKeeper } from "../../platform/children/child-keeper.ts";
import { inferenceBounds as bounds } from "../bounds.ts";
import type { EmbedCall, FromHost, InferenceFailure } from "../messages.ts";
import { addReadable, type HostLink, type HostOptions, startHost } from "./host-link.ts";
import { modelFiles } from "./model-files.ts";

interface OpenCall {
  readonly settled: Promise<unknown>;
  settle(answer: Embedded): void;
}

/** Models of this machine, run by one inference host, which is started with the first call and ended when idle. */
export class InferenceClient implements AsyncDisposable {
  readonly #options: HostOptions;
  readonly #open = new Map<number, OpenCall>();
  readonly #readable = new Set<string>();
  readonly #host: ChildKeeper<HostLink>;
  #idleTimer: Disposable | null = null;
  #nextId = 1;

  constructor(options: HostOptions) {
    this.#options = options;
    const { clock, log } = options;
    this.#host = new ChildKeeper({
      clock,
      restarts: bounds,
      start: () =>
        startHost(options, "onnxruntime-node", this.#readable, (words, bytes) => this.#receive(words, bytes)),
      end: (link) => link.kill(),
      gone: (link, how, deaths) => {
        if (!link.isEnding) log.error("the inference host is gone", { how, deaths, open: this.#open.size });
        this.#failAll({ class: "Died", message: `The inference host ${how} during the call.` });
      },
      closed: () => new Error("The kernel is shutting down."),
    });
  }

  get pid(): number | null {
    return this.#host.pid;
  }

  /** Calls that a host has not answered yet. */
  get openCalls(): number {
    return this.#open.size;
  }

  /**
   * Resolves with the texts' vectors, or with why there are none; a host's death fails its calls, and the next call
   * starts another. Without texts, the model's files are checked again.
   */
  async embed(model: OnnxModel, texts: readonly string[]): Promise<Embedded> {
    const characters = texts.reduce((sum, { length }) => sum + length, 0);
    if (texts.length > bounds.maxTexts || (texts.length > 1 && characters > bounds.maxCharacters))
      return failed({
        class: "Unusable",
        message: `One call has at most ${bounds.maxTexts} texts with ${bounds.maxCharacters} characters in all.`,
      });
    if (this.openCalls >= bounds.maxOpenCalls)
      return failed({
        class: "Busy",
        message: `${bounds.maxOpenCalls} calls are open already. Try again later.`,
      });
    try {
      return await this.#call({ model, files: await modelFiles(model.path), texts });
    } catch (error) {
      return failed({
        class: "Died",
        message: `The model at ${model.path} cannot be reached: ${messageOf(error)}`,
      });
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#idleTimer?.[Symbol.dispose]();
    this.#failAll({ class: "Died", message: "The kernel is shutting down." });
    await this.#host[Symbol.asyncDispose]();
  }

  /** Sends the call to a host that may read its files. Rejects if none can be started. */
  async #call(call: EmbedCall): Promise<Embedded> {
    this.#idleTimer?.[Symbol.dispose]();
    addReadable(this.#readable, call.files);
    for (;;) {
      const link = await this.#host.connect();
      if (link.leaving === null && link.mayRead(call.files)) {
        const id = this.#nextId++;
        const { promise, resolve } = Promise.withResolvers<Embedded>();
        this.#open.set(id, { settled: promise, settle: resolve });
        link.send({ kind: "embed", id, call });
        return await promise;
      }
      const last = [...this.#open.values()].map(({ settled }) => settled);
      link.leaving ??= Promise.all(last).then(() => link.kill());
      await link.leaving;
    }
  }

  #receive(words: FromHost, bytes: Uint8Array): void {
    if (words.kind !== "embedded" && words.kind !== "failed") return;
    const open = this.#open.get(words.id);
    this.#open.delete(words.id);
    if (words.kind === "failed") open?.settle(failed(words.failure));
    else open?.settle({ name: words.name, dimensions: words.dimensions, vectors: bytes.slice() });
    if (this.#open.size > 0) return;
    this.#idleTimer?.[Symbol.dispose]();
    this.#idleTimer = this.#options.clock.timer(bounds.idleMs, () => {
      // A call that was being prepared when the timer started is open now.
      if (this.#open.size === 0) void this.#host.child?.kill();
    });
  }

  #failAll(failure: InferenceFailure): void {
    for (const open of this.#open.values()) open.settle(failed(failure));
    this.#open.clear();
  }
}

const failed = ({ class: kind, message }: InferenceFailure): Embedded => ({
  failure: message,
  isRetryable: kind !== "Unusable",
});
