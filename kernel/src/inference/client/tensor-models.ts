import { unlessAborted } from "../../base/abort.ts";
import { messageOf } from "../../base/errors.ts";
import { byteLengthOf, type NamedTensor, tensorBounds } from "../../base/tensors.ts";
import { ChildKeeper } from "../../platform/children/child-keeper.ts";
import { processMemoryBytes } from "../../platform/processes/process-memory.ts";
import { inferenceBounds as bounds } from "../bounds.ts";
import type { FromHost, InferenceFailure, TensorCall, TensorHeader } from "../messages.ts";
import { type HostLink, type HostOptions, startHost } from "./host-link.ts";
import { TooManyWait, Turns } from "./turns.ts";

export interface TensorRun extends Pick<TensorCall, "file" | "sha256" | "title"> {
  /** The agent that asked; each has few runs at once. */
  readonly who: string;
  readonly inputs: readonly NamedTensor[];
  readonly signal: AbortSignal;
}

/** The reason why there are no outputs. `Timeout` and `Memory`: the host was ended because the run took too much. */
export interface TensorFailure {
  readonly class: InferenceFailure["class"] | "Timeout" | "Memory";
  readonly message: string;
}
export type TensorAnswer = { readonly outputs: readonly NamedTensor[] } | { readonly failure: TensorFailure };

export interface TensorOptions extends HostOptions {
  /** The folder of the models' files: all that the host may read besides the kernel's code and the package. */
  readonly folder: string;
  /** Limits in place of those of `inferenceBounds`. */
  readonly limits?: Partial<TensorLimits>;
}

type TensorLimits = Readonly<
  Record<"tensorLoadTimeoutMs" | "tensorRunTimeoutMs" | "maxTensorHostBytes" | "loadAgainAfterMs", number>
>;

interface OpenRun {
  readonly id: number;
  began(): void;
  settle(answer: TensorAnswer): void;
}

/** Models that extensions bring, in a host of their own, which has one run at a time and is ended by one that takes too much. */
export class TensorModelClient implements AsyncDisposable {
  readonly #options: TensorOptions;
  readonly #limits: TensorLimits;
  readonly #turns = new Turns(1, bounds.maxWaitingTensorRuns);
  /** An agent waits for the host with one run at a time, so that its others do not hold up those of other agents. */
  readonly #turnsOfAgents = new Turns(Number.POSITIVE_INFINITY, bounds.maxWaitingTensorRuns);
  readonly #runsOf = new Map<string, number>();
  /** Models whose run ended the host, by digest, with the time until which they are not run again. */
  readonly #harmful = new Map<string, { readonly untilMs: number; readonly failure: TensorFailure }>();
  readonly #host: ChildKeeper<HostLink>;
  #open: OpenRun | null = null;
  #idleTimer: Disposable | null = null;
  #nextId = 1;

  constructor(options: TensorOptions) {
    this.#options = options;
    this.#limits = { ...bounds, ...options.limits };
    const { clock, log, folder } = options;
    this.#host = new ChildKeeper({
      clock,
      restarts: bounds,
      start: () =>
        startHost(options, "onnxruntime-node", new Set([folder]), (words, bytes) =>
          this.#receive(words, bytes),
        ),
      end: (link) => link.kill(),
      gone: (link, how, deaths) => {
        if (!link.isEnding) log.error("the inference host of extensions' models is gone", { how, deaths });
        this.#open?.settle(failed("Died", `The inference host ${how} during the run.`));
      },
      closed: () => new Error("The kernel is shutting down."),
    });
  }

  get pid(): number | null {
    return this.#host.pid;
  }

  /** Resolves with the outputs, or with why there are none. Rejects with the signal's reason. */
  async infer(run: TensorRun): Promise<TensorAnswer> {
    const { who, sha256, signal } = run;
    const runs = this.#runsOf.get(who) ?? 0;
    if (runs >= bounds.maxTensorRunsPerAgent)
      return failed("Busy", `${runs} runs of models are open already. Wait until one has ended.`);
    this.#runsOf.set(who, runs + 1);
    try {
      const turn = await this.#turn(who, signal);
      // A run cannot be interrupted. If the caller gives up, it keeps its turn until it ends or its deadline passes.
      const work = this.#run(run).finally(() => turn[Symbol.dispose]());
      return await unlessAborted(work, signal);
    } catch (error) {
      if (!(error instanceof TooManyWait)) throw error;
      return failed("Busy", "Too many runs of models wait already. Try again later.");
    } finally {
      this.#leave(who, sha256);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#idleTimer?.[Symbol.dispose]();
    this.#open?.settle(failed("Died", "The kernel is shutting down."));
    await this.#host[Symbol.asyncDispose]();
  }

  async #turn(who: string, signal: AbortSignal): Promise<Disposable> {
    using taken = new DisposableStack();
    taken.use(await this.#turnsOfAgents.take(who, signal));
    taken.use(await this.#turns.take("host", signal));
    return taken.move();
  }

  #leave(who: string, sha256: string): void {
    const left = (this.#runsOf.get(who) ?? 1) - 1;
    if (left > 0) this.#runsOf.set(who, left);
    else this.#runsOf.delete(who);
    const harmful = this.#harmful.get(sha256);
    if (harmful !== undefined && harmful.untilMs <= this.#options.clock.monotonic())
      this.#harmful.delete(sha256);
  }

  async #run({ file, sha256, title, inputs }: TensorRun): Promise<TensorAnswer> {
    const { clock } = this.#options;
    const harmful = this.#harmful.get(sha256);
    if (harmful !== undefined && clock.monotonic() < harmful.untilMs)
      return {
        failure: {
          ...harmful.failure,
          message: `${harmful.failure.message} It is not run again for ${Math.ceil((harmful.untilMs - clock.monotonic()) / 1000)} s.`,
        },
      };
    this.#idleTimer?.[Symbol.dispose]();
    let link: HostLink;
    try {
      link = await this.#host.connect();
    } catch (error) {
      return failed("Died", `The inference host could not be started: ${messageOf(error)}`);
    }
    const answer = await this.#ask(
      link,
      {
        file,
        sha256,
        title,
        inputs: inputs.map(({ name, type, dims, bytes }) => ({ name, type, dims, byteLength: bytes.length })),
        maxOutputBytes: tensorBounds.maxBytes,
      },
      inputs,
    );
    if ("failure" in answer && ["Died", "Timeout", "Memory"].includes(answer.failure.class))
      this.#remember(sha256, answer.failure);
    this.#idleTimer = clock.timer(bounds.idleMs, () => {
      if (this.#open === null) void this.#host.child?.kill();
    });
    return answer;
  }

  async #ask(link: HostLink, call: TensorCall, inputs: readonly NamedTensor[]): Promise<TensorAnswer> {
    const { clock } = this.#options;
    const { tensorLoadTimeoutMs, tensorRunTimeoutMs, maxTensorHostBytes } = this.#limits;
    const id = this.#nextId++;
    const { promise, resolve } = Promise.withResolvers<TensorAnswer>();
    let killed: Promise<void> | null = null;
    const overran = (failure: TensorFailure): void => {
      resolve({ failure });
      killed ??= link.kill();
    };
    const deadline = (ms: number, what: string): Disposable =>
      clock.timer(ms, () =>
        overran({
          class: "Timeout",
          message: `The ${call.title.replace(/^the /, "")} ${what} within ${ms / 1000} s.`,
        }),
      );
    let timer = deadline(tensorLoadTimeoutMs, "was not loaded");
    let check: Disposable | null = null;
    const watchMemory = (): void => {
      check = clock.timer(bounds.memoryCheckMs, () => {
        const bytes = processMemoryBytes(link.pid);
        if (bytes === null || bytes <= maxTensorHostBytes) return watchMemory();
        overran({
          class: "Memory",
          message: `The ${call.title.replace(/^the /, "")} took more than ${Math.floor(maxTensorHostBytes / 1024 / 1024)} MiB of memory.`,
        });
      });
    };
    watchMemory();
    this.#open = {
      id,
      began: () => {
        timer[Symbol.dispose]();
        timer = deadline(tensorRunTimeoutMs, "did not answer");
      },
      settle: resolve,
    };
    link.send({ kind: "infer", id, call }, joined(inputs));
    try {
      const answer = await promise;
      // The next run gets another host, not this one's last moments.
      await (killed as Promise<void> | null);
      return answer;
    } finally {
      this.#open = null;
      timer[Symbol.dispose]();
      (check as Disposable | null)?.[Symbol.dispose]();
    }
  }

  #remember(sha256: string, failure: TensorFailure): void {
    this.#harmful.delete(sha256);
    this.#harmful.set(sha256, {
      untilMs: this.#options.clock.monotonic() + this.#limits.loadAgainAfterMs,
      failure,
    });
    for (const oldest of this.#harmful.keys()) {
      if (this.#harmful.size <= maxHarmful) break;
      this.#harmful.delete(oldest);
    }
  }

  #receive(words: FromHost, bytes: Uint8Array): void {
    if (this.#open === null || !("id" in words) || words.id !== this.#open.id) return;
    if (words.kind === "progress") this.#open.began();
    else if (words.kind === "failed") this.#open.settle({ failure: words.failure });
    else if (words.kind === "inferred") this.#open.settle(parted(words.outputs, bytes.slice()));
  }
}

const maxHarmful = 64;

function failed(kind: TensorFailure["class"], message: string): TensorAnswer {
  return { failure: { class: kind, message } };
}

function joined(tensors: readonly NamedTensor[]): Uint8Array {
  const all = new Uint8Array(tensors.reduce((sum, { bytes }) => sum + bytes.length, 0));
  let at = 0;
  for (const { bytes } of tensors) {
    all.set(bytes, at);
    at += bytes.length;
  }
  return all;
}

/** The host runs native code on a stranger's model, so what it sends is checked. */
function parted(headers: readonly TensorHeader[], bytes: Uint8Array): TensorAnswer {
  let at = 0;
  const outputs = headers.map(({ name, type, dims, byteLength }) => {
    const part = bytes.subarray(at, at + byteLength);
    at += byteLength;
    return { name, type, dims, bytes: part };
  });
  const fits = outputs.every((output) => byteLengthOf(output) === output.bytes.length);
  return fits && at === bytes.length
    ? { outputs }
    : failed("Died", "The inference host sent numbers that do not fit their dimensions.");
}
