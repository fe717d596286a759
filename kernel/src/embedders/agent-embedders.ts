import { unlessAborted } from "../base/abort.ts";
import type { Clock } from "../base/clock.ts";
import type { CpuBudget } from "../base/cpu-budget.ts";
import { invalidParams, isLaresError, limitExceeded } from "../base/errors.ts";
import { Slices } from "../base/slices.ts";
import type { ModelFailureClass } from "../base/vocabulary/model.ts";
import type { EmbedHere, PostOutside } from "../memory-contract/store-port.ts";
import type { EmbedderSpec } from "../memory-contract/store-settings.ts";
import { modelError } from "../models/failure-error.ts";
import { isLocalProvider } from "../models/routing.ts";
import type { Embedder } from "../store/embedding/port.ts";

interface EmbedderPorts {
  /** Returns the embedder of the agent's memory, as the documents name it. */
  specOf(agent: string): EmbedderSpec;
  /** Returns what sends requests in the agent's name. */
  post(agent: string): PostOutside;
  readonly embedHere: EmbedHere;
  readonly clock: Pick<Clock, "monotonic">;
  /** Receives the reason for missing vectors, for the person. The agent's own error names no address and no path. */
  failed(agent: string, message: string): void;
}

interface EmbedRequest {
  readonly agent: string;
  readonly texts: readonly string[];
  readonly isLocalOnly: boolean;
  readonly cpu: CpuBudget;
  readonly signal: AbortSignal;
}

interface Embeddings {
  readonly embeddings: readonly (readonly number[])[];
  readonly dimensions: number;
  readonly embedder: string;
}

/** Numbers of one answer at most: each takes up to 12 characters, and a message has about a million. */
const maxNumbers = 80_000;
const decimals = 1e8;
/** Milliseconds for which all agents' texts together hold the event loop at once. */
const sliceMs = 4;
/** After an error with a pause like this, a person has to fix something first. */
const mendingPauseMs = 60_000;

/**
 * Turns agents' texts into vectors that can be compared with those of their memories. It runs in the kernel, apart from
 * the store host: `hash` is computed in slices of the event loop, and charged to the agent; the others compute elsewhere.
 */
export class AgentEmbedders implements AsyncDisposable {
  readonly #ports: EmbedderPorts;
  /** One for each agent, opened with its first texts; what its requests send is in traces under its name. */
  readonly #opened = new Map<string, { readonly spec: string; readonly embedder: Promise<Embedder> }>();

  readonly #slices: Slices;
  /** Embedders that nobody uses any more. */
  readonly #closing = new Set<Promise<void>>();

  constructor(ports: EmbedderPorts) {
    this.#ports = ports;
    this.#slices = new Slices(ports.clock, sliceMs);
  }

  /** Returns the name of the agent's embedder without opening it; null if it may not be used. */
  describe(agent: string, isLocalOnly: boolean): { readonly name: string; readonly local: boolean } | null {
    const spec = this.#ports.specOf(agent);
    const local = isLocalEmbedder(spec);
    return local || !isLocalOnly ? { name: nameOf(spec), local } : null;
  }

  /** Throws InvalidParams for a blank text, LimitExceeded, ModelError, or the signal's reason. */
  async embed({ agent, texts, isLocalOnly, cpu, signal }: EmbedRequest): Promise<Embeddings> {
    const blank = texts.findIndex((text) => !/\S/u.test(text));
    if (blank >= 0)
      throw invalidParams(`Text ${blank + 1} of ${texts.length} is blank, and cannot be embedded.`, {
        path: `texts/${blank}`,
      });
    const spec = this.#ports.specOf(agent);
    if (isLocalOnly && !isLocalEmbedder(spec))
      throw failure(
        spec,
        "NoModel",
        "These texts may not leave this machine, and the embedder of memory.embedder is a service elsewhere. Name another one in your lares.yaml.",
      );
    try {
      const embedder = await unlessAborted(this.#open(agent, spec), signal);
      const { name, dimensions } = embedder;
      const most = Math.max(1, Math.floor(maxNumbers / dimensions));
      if (texts.length > most)
        throw limitExceeded(
          "texts",
          most,
          `An answer has at most ${most} vectors of ${dimensions} numbers. Embed the texts in several calls.`,
        );
      const vectors = embedder.isImmediate
        ? await this.#inSlices(embedder, texts, cpu, signal)
        : await embedder.embed(texts, "item", signal);
      const embeddings: number[][] = [];
      for (const vector of vectors) {
        await this.#slices.begin();
        embeddings.push(Array.from(vector, (value) => Math.round(value * decimals) / decimals));
      }
      return { embeddings, dimensions, embedder: name };
    } catch (error) {
      signal.throwIfAborted();
      throw this.#errorOf(agent, spec, error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const all = [...this.#opened.values()];
    this.#opened.clear();
    for (const { embedder } of all) this.#close(embedder);
    await Promise.all(this.#closing);
  }

  #close(opened: Promise<Embedder>): void {
    // One that could not be opened needs no closing.
    const closing = opened
      .then((embedder) => embedder[Symbol.asyncDispose]())
      .catch(() => undefined)
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  #open(agent: string, spec: EmbedderSpec): Promise<Embedder> {
    const key = JSON.stringify(spec);
    const known = this.#opened.get(agent);
    if (known?.spec === key) return known.embedder;
    if (known !== undefined) this.#close(known.embedder);
    const { post, embedHere } = this.#ports;
    // Loaded now, because most agents embed nothing themselves.
    const embedder = import("../store/host/create-embedder.ts").then(({ createEmbedder }) =>
      createEmbedder(spec, { post: post(agent), embedHere }),
    );
    const opened = { spec: key, embedder };
    this.#opened.set(agent, opened);
    embedder.catch(() => {
      // The next call tries again.
      if (this.#opened.get(agent) === opened) this.#opened.delete(agent);
    });
    return embedder;
  }

  async #inSlices(
    embedder: Embedder,
    texts: readonly string[],
    cpu: CpuBudget,
    signal: AbortSignal,
  ): Promise<Float32Array[]> {
    const vectors: Float32Array[] = [];
    for (const text of texts) {
      await this.#slices.begin();
      signal.throwIfAborted();
      if (cpu.leftMs() <= 0)
        throw limitExceeded(
          cpu.limit,
          cpu.allowedMs,
          `Embedding these texts takes more CPU time than is left. ${cpu.limit} allows ${cpu.allowedMs} ms. Embed fewer texts.`,
        );
      const before = this.#slices.nowMs;
      vectors.push(...(await embedder.embed([text], "item")));
      cpu.charge(this.#slices.nowMs - before);
    }
    return vectors;
  }

  #errorOf(agent: string, spec: EmbedderSpec, error: unknown): unknown {
    if (isLaresError(error, "InvalidParams")) {
      this.#ports.failed(agent, error.message);
      return failure(
        spec,
        "NoModel",
        "The embedder that memory.embedder names cannot be used as it is written.",
      );
    }
    if (!isEmbeddingError(error)) return error;
    this.#ports.failed(agent, error.message);
    if (!error.isRetryable)
      return failure(spec, "InvalidRequest", "The embedder refuses these texts. The traces say why.");
    return error.retryAfterMs >= mendingPauseMs
      ? failure(spec, "NoModel", "The embedder cannot be used until the person fixes its settings.")
      : failure(spec, "Overloaded", "The embedder does not answer. Try again later.");
  }
}

/** The class itself is loaded only with an embedder. */
function isEmbeddingError(
  error: unknown,
): error is Error & { readonly isRetryable: boolean; readonly retryAfterMs: number } {
  return error instanceof Error && error.name === "EmbeddingError";
}

const failure = (spec: EmbedderSpec, kind: ModelFailureClass, message: string): Error =>
  modelError({ class: kind, message }, nameOf(spec));

/** True for an embedder whose texts stay on this machine. */
export function isLocalEmbedder(spec: EmbedderSpec): boolean {
  return (
    spec.kind !== "openai-compatible" ||
    isLocalProvider({ id: "memory.embedder", api: "openai-compatible", baseUrl: spec.url })
  );
}

function nameOf(spec: EmbedderSpec): string {
  switch (spec.kind) {
    case "hash":
      return "embedder/hash";
    case "onnx":
      return `embedder/${spec.fetchedAs ?? "onnx"}`;
    case "openai-compatible":
      return `embedder/${spec.model}`;
  }
}
