import { unlessAborted } from "../../base/abort.ts";
import { messageOf } from "../../base/errors.ts";
import type { ModelEvent, ModelFailure } from "../../base/vocabulary/model.ts";
import { ChildKeeper } from "../../platform/children/child-keeper.ts";
import { findModule } from "../../platform/children/child-process.ts";
import { inferenceBounds as bounds } from "../bounds.ts";
import type { FromHost, GenerateCall, InspectedModel, ModelFiles } from "../messages.ts";
import { missingLlama, unusable } from "../unusable.ts";
import { addReadable, type HostLink, type HostOptions, startHost } from "./host-link.ts";
import { ModelRun } from "./model-run.ts";
import { TooManyWait, Turns } from "./turns.ts";

interface Inspection {
  readonly settled: Promise<InspectedModel>;
  resolve(model: InspectedModel): void;
  reject(error: Error): void;
}

interface LanguageModelOptions extends HostOptions {
  /** The files of all models that may be asked for, so that one more needs no other host. Others may be asked for too. */
  files?(): readonly string[];
}

/**
 * Language models of this machine. They run in an inference host of their own, so that neither an answer that takes
 * minutes nor a file that ends the process is in the way of embedders. It is started with the first question, and ended
 * when it was idle for long.
 */
export class LanguageModelClient implements AsyncDisposable {
  readonly #options: LanguageModelOptions;
  readonly #turns = new Turns(bounds.maxLanguageModels, bounds.maxWaitingRuns);
  readonly #runs = new Map<number, { readonly run: ModelRun; readonly model: ModelFiles }>();
  readonly #inspections = new Map<number, Inspection>();
  readonly #readable = new Set<string>();
  /** Files that ended the host while they were loaded, with how and when. */
  readonly #deadly = new Map<string, { readonly how: string; readonly at: number }>();
  readonly #host: ChildKeeper<HostLink>;
  #idleTimer: Disposable | null = null;
  #nextId = 1;

  constructor(options: LanguageModelOptions) {
    this.#options = options;
    const { clock, log } = options;
    this.#host = new ChildKeeper({
      clock,
      restarts: bounds,
      start: () => startHost(options, "node-llama-cpp", this.#readable, (words) => this.#receive(words)),
      end: (link) => link.kill(),
      gone: (link, how, deaths) => {
        if (!link.isEnding) log.error("the inference host is gone", { how, deaths, runs: this.#runs.size });
        this.#gone(how, link.isEnding);
      },
      closed: () => new Error("The kernel is shutting down."),
    });
  }

  get pid(): number | null {
    return this.#host.pid;
  }

  /** Answers that the host has not ended yet. */
  get openRuns(): number {
    return this.#runs.size;
  }

  /** Yields an answer, the last event `done` or `failed`, within moments after the signal is aborted. Never throws. */
  async *stream(call: GenerateCall, signal: AbortSignal): AsyncGenerator<ModelEvent, void> {
    const [file] = call.model.files;
    const refusal = await this.#refusal(call.model, signal);
    if (refusal !== null) return yield { type: "failed", failure: refusal };
    using held = new DisposableStack();
    let link: HostLink;
    try {
      held.use(await this.#turns.take(file, signal));
      link = await unlessAborted(this.#connect(call.model.files), signal);
    } catch (error) {
      // A host that was started for nothing is idle from now on.
      this.#rest();
      return yield { type: "failed", failure: this.#failureBefore(error, signal) };
    }
    const { id, run } = this.#begin(link, call, held.move());
    const cancel = (): void => run.stop("Cancelled", "The request was cancelled.");
    try {
      yield { type: "sent" };
      signal.addEventListener("abort", cancel, { once: true });
      if (signal.aborted) cancel();
      // Where the host died meanwhile, the run knows it.
      link.send({ kind: "generate", id, call });
      run.sent();
      yield* run.events();
    } finally {
      signal.removeEventListener("abort", cancel);
      run.leaveUnsent();
    }
  }

  /**
   * Looks at a model's files without loading them. `contextTokens`: the number in the document; null if it gives
   * none. Rejects with the problem.
   */
  async inspect(
    model: ModelFiles,
    contextTokens: number | null,
    signal: AbortSignal,
  ): Promise<InspectedModel> {
    const inspected = await this.#inspect(model, contextTokens, signal);
    if (this.#runtime === null) throw unusable(missingLlama);
    return inspected;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#idleTimer?.[Symbol.dispose]();
    this.#endAll({ class: "Cancelled", message: "The kernel is shutting down." });
    await this.#host[Symbol.asyncDispose]();
  }

  get #runtime(): string | null {
    return findModule("node-llama-cpp", this.#options.packagesOf ?? import.meta.url);
  }

  async #inspect(
    model: ModelFiles,
    contextTokens: number | null,
    signal: AbortSignal,
  ): Promise<InspectedModel> {
    const link = await unlessAborted(this.#connect(model.files), signal);
    this.#idleTimer?.[Symbol.dispose]();
    const id = this.#nextId++;
    const { promise, resolve, reject } = Promise.withResolvers<InspectedModel>();
    this.#inspections.set(id, { settled: promise, resolve, reject });
    link.send({ kind: "inspect", id, model, contextTokens });
    return await unlessAborted(promise, signal);
  }

  /** Returns why a model is not even tried; null if it is. */
  async #refusal(model: ModelFiles, signal: AbortSignal): Promise<ModelFailure | null> {
    const deadly = this.#deadlyFailure(model);
    if (deadly !== null || this.#runtime !== null) return deadly;
    // A person who installs the package should not learn only then that the path is wrong.
    try {
      await this.#inspect(model, null, signal);
      return { class: "NoModel", message: missingLlama };
    } catch (error) {
      if (signal.aborted) return cancelled;
      return { class: "NoModel", message: messageOf(error) };
    }
  }

  #deadlyFailure({ files: [file], place }: ModelFiles): ModelFailure | null {
    const deadly = this.#deadly.get(file);
    if (deadly === undefined) return null;
    if (this.#options.clock.monotonic() - deadly.at >= bounds.loadAgainAfterMs) {
      this.#deadly.delete(file);
      return null;
    }
    return {
      class: "NoModel",
      message: `The inference host ${deadly.how} while it loaded ${file}. The file may be damaged, of a kind that this node-llama-cpp does not know, or too large for the memory. Replace it, or correct ${place} in your lares.yaml; it is not loaded again for a minute.`,
    };
  }

  /** Registers a run, for which the host stays. */
  #begin(
    link: HostLink,
    call: GenerateCall,
    turn: Disposable,
  ): { readonly id: number; readonly run: ModelRun } {
    this.#idleTimer?.[Symbol.dispose]();
    const id = this.#nextId++;
    const run = new ModelRun(call.request.model, {
      clock: this.#options.clock,
      grant: (events) => link.send({ kind: "grant", id, events }),
      cancel: () => link.send({ kind: "cancel", id }),
      hung: () => void link.kill(),
      left: () => {
        this.#runs.delete(id);
        turn[Symbol.dispose]();
        this.#rest();
      },
    });
    this.#runs.set(id, { run, model: call.model });
    return { id, run };
  }

  #failureBefore(error: unknown, signal: AbortSignal): ModelFailure {
    if (signal.aborted) return cancelled;
    if (error instanceof TooManyWait)
      return {
        class: "Overloaded",
        message: `${bounds.maxWaitingRuns} questions wait for models of this machine already. Ask again later.`,
      };
    return { class: "Network", message: `The inference host could not be started: ${messageOf(error)}` };
  }

  /** Returns a host that may read the files; one that may not is ended after its last answer. */
  async #connect(files: readonly string[]): Promise<HostLink> {
    this.#idleTimer?.[Symbol.dispose]();
    addReadable(this.#readable, [...(this.#options.files?.() ?? []), ...files]);
    for (;;) {
      const link = await this.#host.connect();
      // A package that was installed meanwhile needs another host too.
      if (link.leaving === null && link.mayRead(files) && link.runtime === this.#runtime) return link;
      const last = [
        ...[...this.#runs.values()].map(({ run }) => run.left),
        ...[...this.#inspections.values()].map(({ settled }) => settled),
      ];
      link.leaving ??= Promise.allSettled(last).then(() => link.kill());
      await link.leaving;
    }
  }

  #receive(words: FromHost): void {
    switch (words.kind) {
      case "event":
        return this.#runs.get(words.id)?.run.received(words.event);
      case "progress":
        return this.#runs.get(words.id)?.run.progress(words.phase);
      case "inspected":
      case "failed": {
        const inspection = this.#inspections.get(words.id);
        this.#inspections.delete(words.id);
        if (words.kind === "inspected") inspection?.resolve(words.model);
        else inspection?.reject(unusable(words.failure.message));
        return this.#rest();
      }
      case "inferred":
      case "embedded":
        return;
    }
  }

  /** Ends an idle host after a while, which frees what its models take. */
  #rest(): void {
    if (this.#runs.size > 0 || this.#inspections.size > 0) return;
    this.#idleTimer?.[Symbol.dispose]();
    this.#idleTimer = this.#options.clock.timer(bounds.idleMs, () => void this.#host.child?.kill());
  }

  /** `isWanted`: the kernel ended the host itself, so no file is to blame. */
  #gone(how: string, isWanted: boolean): void {
    const at = this.#options.clock.monotonic();
    for (const { run, model } of this.#runs.values()) {
      if (isWanted || !run.isLoading) continue;
      this.#deadly.set(model.files[0], { how, at });
      const failure = this.#deadlyFailure(model);
      if (failure !== null) run.died(failure);
    }
    this.#endAll({ class: "Network", message: `The inference host ${how} during the answer.` });
  }

  #endAll(failure: ModelFailure): void {
    for (const { run } of this.#runs.values()) run.died(failure);
    for (const { reject } of this.#inspections.values()) reject(unusable(failure.message));
    this.#inspections.clear();
  }
}

const cancelled: ModelFailure = { class: "Cancelled", message: "The request was cancelled." };
