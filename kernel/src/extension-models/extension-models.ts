import type { Clock } from "../base/clock.ts";
import { isLaresError, LaresError } from "../base/errors.ts";
import { plainMessage } from "../base/plain-text.ts";
import type { NamedTensor } from "../base/tensors.ts";
import { type DeclaredModel, type ModelSource, sourceOfModel } from "../base/vocabulary/declared-model.ts";
import type { ModelFailureClass } from "../base/vocabulary/model.ts";
import type { TensorFailure, TensorModelClient } from "../inference/client/tensor-models.ts";
import { modelError } from "../models/failure-error.ts";
import type { WorkProgress } from "../services/ports.ts";
import type { ModelStore } from "./model-store.ts";

export interface ExtensionModelPorts {
  readonly store: ModelStore;
  readonly client: Pick<TensorModelClient, "infer">;
  readonly clock: Clock;
  /** Returns the models that the agent's extension declares, as a person accepted them. */
  modelsOf(agent: string): readonly DeclaredModel[];
  progress(news: WorkProgress): void;
  trace(level: "info" | "warn", agent: string, message: string): void;
}

export interface InferRequest {
  readonly agent: string;
  readonly model: string;
  readonly inputs: readonly NamedTensor[];
  readonly signal: AbortSignal;
}

/** After a failed download a guest's next call does not start another one for so long. */
const fetchAgainAfterMs = 60_000;
const maxFailures = 256;
/** Clients receive the progress of a download in steps of this many percent. */
const stepPercent = 5;

/** Runs the models of extensions, which are fetched when they are first used. */
export class ExtensionModels {
  readonly #ports: ExtensionModelPorts;
  /** Downloads that are being reported: several calls of an agent may wait for one. */
  readonly #reported = new Set<string>();
  readonly #failures = new Map<string, { readonly untilMs: number; readonly error: LaresError }>();

  constructor(ports: ExtensionModelPorts) {
    this.#ports = ports;
  }

  /** Throws ModelError, or the signal's reason. By now policy has decided that the agent may use the model. */
  async infer({ agent, model, inputs, signal }: InferRequest): Promise<readonly NamedTensor[]> {
    const { client, store, modelsOf } = this.#ports;
    const declared = modelsOf(agent).find(({ name }) => name === model);
    if (declared === undefined) throw failure(agent, model, "UnknownModel", `There is no model "${model}".`);
    const source = sourceOfModel(declared);
    if ("lacks" in source) throw failure(agent, model, "NoModel", source.lacks);
    const file = await this.#fetched(source, agent, signal);
    const answer = await client.infer({
      file,
      sha256: source.sha256,
      title: `the model ${JSON.stringify(model)}`,
      who: agent,
      inputs,
      signal,
    });
    if (!("failure" in answer)) return answer.outputs;
    if (answer.failure.class === "Damaged") await store.remove(source.sha256);
    if (answer.failure.class !== "Refused" && answer.failure.class !== "Busy")
      this.#ports.trace("warn", agent, answer.failure.message);
    throw failureOf(agent, model, answer.failure);
  }

  async #fetched(source: ModelSource, agent: string, signal: AbortSignal): Promise<string> {
    const { store, clock } = this.#ports;
    const key = `${source.sha256} ${source.url}`;
    const before = this.#failures.get(key);
    if (before !== undefined) {
      const { state } = await store.stateOf(source);
      if (state !== "fetched" && clock.monotonic() < before.untilMs) throw before.error;
      this.#failures.delete(key);
    }
    const report = this.#reporting(source, agent);
    try {
      const { path } = await store.fetch(source, { who: agent, signal, received: report.received });
      report.ended(null);
      return path;
    } catch (error) {
      const isCancelled = signal.aborted;
      report.ended(isCancelled ? "cancelled" : "failed");
      signal.throwIfAborted();
      if (!isLaresError(error)) throw error;
      this.#ports.trace("warn", agent, error.message);
      const known = fetchFailure(error, agent, source);
      this.#failures.set(key, { untilMs: clock.monotonic() + fetchAgainAfterMs, error: known });
      for (const oldest of this.#failures.keys()) {
        if (this.#failures.size <= maxFailures) break;
        this.#failures.delete(oldest);
      }
      throw known;
    }
  }

  /** Reports a download to clients and traces, once its first byte has arrived. */
  #reporting({ name, sha256, maxBytes }: ModelSource, agent: string) {
    const { progress, trace } = this.#ports;
    const work = `model ${sha256} ${agent}`;
    let shown = -1;
    return {
      received: (bytes: number): void => {
        if (shown < 0) {
          if (this.#reported.has(work)) return;
          this.#reported.add(work);
          progress({
            work,
            kind: "begin",
            title: plainMessage(`Lares: fetching the model ${JSON.stringify(name)} (${agent})`),
          });
          trace(
            "info",
            agent,
            `Fetching the model ${JSON.stringify(name)}, at most ${mebibytes(maxBytes)} MiB.`,
          );
          shown = 0;
        }
        // The declared size is a limit; the file may be smaller.
        const percentage = Math.min(99, Math.floor((100 * bytes) / maxBytes));
        if (percentage < shown + stepPercent) return;
        shown = percentage;
        progress({ work, kind: "report", message: `${mebibytes(bytes)} MiB`, percentage });
      },
      ended: (problem: "failed" | "cancelled" | null): void => {
        if (shown < 0) return;
        this.#reported.delete(work);
        progress({ work, kind: "end", message: problem ?? "done" });
        if (problem === null) trace("info", agent, `The model ${JSON.stringify(name)} was fetched.`);
      },
    };
  }
}

function mebibytes(bytes: number): number {
  return Math.round((10 * bytes) / 1024 / 1024) / 10;
}

function failure(agent: string, model: string, kind: ModelFailureClass, message: string): LaresError {
  return modelError({ class: kind, message }, `${agent}/${model}`);
}

function fetchFailure(error: LaresError, agent: string, { name }: ModelSource): LaresError {
  const isNetwork = error.code === "NetworkError" || error.code === "Busy";
  // The reason from the disk is for the person.
  const reason =
    error.code === "StorageError"
      ? `The model ${JSON.stringify(name)} could not be stored. The traces say why.`
      : error.message;
  return failure(
    agent,
    name,
    isNetwork ? "Network" : "NoModel",
    `${reason} A person can fetch it by: lares models fetch ${agent}/${name}`,
  );
}

function failureOf(agent: string, model: string, { class: kind, message }: TensorFailure): LaresError {
  switch (kind) {
    case "Unusable":
      return failure(agent, model, "NoModel", message);
    case "Refused":
      return failure(agent, model, "InvalidRequest", message);
    case "Damaged":
      return failure(
        agent,
        model,
        "Overloaded",
        `${message} It was deleted, and the next call fetches it again.`,
      );
    case "Timeout":
      return failure(agent, model, "Timeout", message);
    case "Memory":
      return failure(agent, model, "InvalidRequest", message);
    case "Busy":
    case "Died":
      return failure(agent, model, "Overloaded", message);
  }
}
