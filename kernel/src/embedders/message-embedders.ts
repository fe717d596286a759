import type { Clock } from "../base/clock.ts";
import { Slices } from "../base/slices.ts";
import type { TextEmbedder } from "../conversations/vectors/message-vectors.ts";
import { type EmbedHere, OutsideError, type PostOutside } from "../memory-contract/store-port.ts";
import type { EmbedderSpec } from "../memory-contract/store-settings.ts";
import type { Embedder } from "../store/embedding/port.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import { decideHostCall } from "../policy/decide.ts";
import { embeddingCategory, isLocalOnly } from "../policy/outside.ts";
import { isLocalEmbedder } from "./agent-embedders.ts";

interface MessageEmbedderPorts {
  /** Returns the embedder of the agent's memory, as the documents name it. */
  specOf(agent: string): EmbedderSpec;
  /** Returns what the agent may do; null if it is not installed or is disabled. */
  authorityOf(agent: string): Authority | null;
  /** Returns what sends requests in the agent's name. */
  post(agent: string): PostOutside;
  readonly embedHere: EmbedHere;
  readonly clock: Pick<Clock, "monotonic">;
}

interface Opened {
  /** Its settings and, for a service, the agent in whose name it is asked. */
  readonly key: string;
  readonly embedder: Promise<Embedder>;
}

/** Milliseconds for which texts hold the event loop at once, with an embedder that computes in it. */
const sliceMs = 4;

/** Loaded when it is first needed. */
let embedding: typeof import("../store/embedding/embed-each.ts") | null = null;

/**
 * The embedders of conversations: those of the agents' memories. A service elsewhere gets what is said only if a person
 * has granted the agent that such a service sees its texts; that is looked up again before each request.
 */
export class MessageEmbedders implements AsyncDisposable {
  readonly #ports: MessageEmbedderPorts;
  readonly #slices: Slices;
  /** By agent. Conversations of several agents share an embedder of this machine. */
  readonly #opened = new Map<string, Opened>();
  /** By agent, as text. */
  #inForce: ReadonlyMap<string, string> = new Map();
  /** Embedders that nobody uses any more. */
  readonly #closing = new Set<Promise<void>>();

  constructor(ports: MessageEmbedderPorts) {
    this.#ports = ports;
    this.#slices = new Slices(ports.clock, sliceMs);
  }

  /** Returns whether an agent that was known at the last call has another embedder now, or none. */
  hasChanged(agents: Iterable<string>): boolean {
    const before = this.#inForce;
    this.#inForce = new Map([...agents].map((agent) => [agent, JSON.stringify(this.#usable(agent))]));
    return [...this.#inForce].some(([agent, spec]) => before.has(agent) && before.get(agent) !== spec);
  }

  /** Returns an agent's embedder; null if it is a service that may not see what is said. Rejects if it cannot be opened. */
  async of(agent: string): Promise<TextEmbedder | null> {
    const spec = this.#usable(agent);
    if (spec === null) {
      this.#leave(agent, null);
      return null;
    }
    const embedder = await this.#open(agent, spec);
    const { name, knows } = embedder;
    return {
      name,
      knows,
      items: (texts, signal) => this.#items(embedder, texts, signal),
      query: async (text) => {
        const [vector] = await embedder.embed([text], "query");
        if (vector === undefined) throw new Error(`${name} did not answer.`);
        return vector;
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const agent of this.#opened.keys()) this.#leave(agent, null);
    await Promise.all(this.#closing);
  }

  /** As for the agent's own `ai/embed`, which a person is asked about: there is no second question for conversations. */
  #mayLeave(agent: string): boolean {
    const authority = this.#ports.authorityOf(agent);
    if (authority === null || isLocalOnly(authority, embeddingCategory)) return false;
    return decideHostCall(authority, { method: "ai/embed", params: {} }).allowed;
  }

  #usable(agent: string): EmbedderSpec | null {
    const spec = this.#ports.specOf(agent);
    return isLocalEmbedder(spec) || this.#mayLeave(agent) ? spec : null;
  }

  #open(agent: string, spec: EmbedderSpec): Promise<Embedder> {
    const key = JSON.stringify(spec.kind === "openai-compatible" ? [spec, agent] : [spec]);
    this.#leave(agent, key);
    const known = [...this.#opened.values()].find((opened) => opened.key === key);
    // Loaded now, because many kernels embed nothing themselves.
    const embedder =
      known?.embedder ??
      import("../store/host/create-embedder.ts").then(({ createEmbedder }) =>
        createEmbedder(spec, { post: this.#postOf(agent, spec), embedHere: this.#ports.embedHere }),
      );
    this.#opened.set(agent, { key, embedder });
    embedder.catch(() => {
      // The next request tries again.
      if (this.#opened.get(agent)?.embedder === embedder) this.#opened.delete(agent);
    });
    return embedder;
  }

  #postOf(agent: string, spec: EmbedderSpec): PostOutside {
    const post = this.#ports.post(agent);
    return async (request, body, signal) => {
      // A grant may have been withdrawn since the embedder was opened, and the person may have named another one.
      const isInForce = JSON.stringify(this.#ports.specOf(agent)) === JSON.stringify(spec);
      if (!isLocalEmbedder(spec) && !(isInForce && this.#mayLeave(agent)))
        throw new OutsideError("Denied", `${agent} may not send its texts to a service any more.`);
      return await post(request, body, signal);
    };
  }

  /** Closes the agent's embedder, unless it has this key or others use it. */
  #leave(agent: string, key: string | null): void {
    const left = this.#opened.get(agent);
    if (left === undefined || left.key === key) return;
    this.#opened.delete(agent);
    if ([...this.#opened.values()].some(({ embedder }) => embedder === left.embedder)) return;
    // One that could not be opened needs no closing.
    const closing = left.embedder
      .then((embedder) => embedder[Symbol.asyncDispose]())
      .catch(() => undefined)
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  async #items(
    embedder: Embedder,
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<(Float32Array | null)[]> {
    const { embedEach } = (embedding ??= await import("../store/embedding/embed-each.ts"));
    const vectors: (Float32Array | null)[] = [];
    // One that computes here has to let others run after each text.
    const size = embedder.isImmediate ? 1 : texts.length;
    for (let at = 0; at < texts.length; at += size) {
      if (embedder.isImmediate) await this.#slices.begin();
      for (const part of await embedEach(embedder, texts.slice(at, at + size), signal)) {
        if (!("error" in part)) vectors.push(...part.vectors);
        else if (part.error.isRetryable) throw part.error;
        else for (let text = part.from; text < part.to; text++) vectors.push(null);
      }
    }
    return vectors;
  }
}
