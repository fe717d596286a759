import { joinPath, makeFolder } from "../../platform/files/data-files.ts";
import { limitExceeded, storageError } from "../../base/errors.ts";
import { acquireLock, type FileLock } from "../../platform/processes/lock.ts";
import type { EmbedderPorts } from "./create-embedder.ts";
import { answers, type OpenMemory, openMemory } from "./answers.ts";
import { storeBounds as bounds } from "../bounds.ts";
import { reasonOf } from "./failure.ts";
import type { ToHost } from "../messages.ts";
import { OpenMemories } from "./open-memories.ts";
import type { StoreMemory, StoreNotice } from "../../memory-contract/store-port.ts";
import { type Duck, openDuck } from "../projection/duck.ts";
import { Engines } from "../vectors/engines.ts";

interface StoreHostOptions {
  /** Absolute; all memories lie beneath it. */
  readonly stateFolder: string;
  notice(notice: StoreNotice): void;
  /** What embedders ask of the kernel. */
  readonly outside: EmbedderPorts;
  /** Nothing can be answered any more: the process has to end, and the kernel starts the next. */
  failed(error: unknown): void;
}

type Request = Omit<Extract<ToHost, { kind: "request" }>, "kind" | "id">;

/** What the store host's process does, without its pipe. */
export class StoreHost implements AsyncDisposable {
  readonly #options: StoreHostOptions;
  readonly #lock: FileLock;
  readonly #duck: Duck;
  readonly #engines = new Engines();
  readonly #memories: OpenMemories<OpenMemory>;
  /** Memories that a hint is followed for just now, with the newest hint. */
  readonly #following = new Map<string, StoreMemory>();
  /** Memories that are not believed when they are opened next. */
  readonly #suspects = new Set<string>();
  /** Those that were not believed once: what this host made itself it believes. */
  readonly #doubted = new Set<string>();

  private constructor(options: StoreHostOptions, lock: FileLock, duck: Duck) {
    this.#options = options;
    this.#lock = lock;
    this.#duck = duck;
    this.#memories = new OpenMemories(
      (memory) => this.#open(memory),
      (key, error) => this.#log("A memory's projections were not closed as they should be.", key, error),
    );
  }

  /** Throws StorageError where another host has the folder for longer than it takes to end. */
  static async open(options: StoreHostOptions): Promise<StoreHost> {
    const folder = joinPath(options.stateFolder, "store");
    await makeFolder(folder);
    const lock = await takeLock(joinPath(folder, "host.lock"));
    try {
      const duck = await openDuck({ folder: options.stateFolder, broke: (error) => options.failed(error) });
      return new StoreHost(options, lock, duck);
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  /** The answer as JSON. Throws the signal's reason where that is aborted before the memory is asked. */
  async answer({ name, memory, params, isSuspect }: Request, signal?: AbortSignal): Promise<string> {
    const { key } = memory;
    if (isSuspect && !this.#doubted.has(key)) {
      this.#doubted.add(key);
      await this.#memories.close(key);
      this.#suspects.add(key);
    }
    if (name === "close") {
      await this.#memories.close(key);
      return "{}";
    }
    const answer = answers[name] as (
      opened: OpenMemory,
      memory: StoreMemory,
      params: unknown,
    ) => Promise<unknown>;
    const asked = (opened: OpenMemory): Promise<unknown> => {
      signal?.throwIfAborted();
      return answer(opened, memory, params);
    };
    return asJson(await this.#memories.use(memory, asked));
  }

  /** Follows the journal behind; the newest hint counts. Nothing makes room for a hint. */
  grown(memory: StoreMemory): void {
    const isUnderWay = this.#following.has(memory.key);
    if (!isUnderWay && !this.#memories.hasRoomFor(memory)) return;
    this.#following.set(memory.key, memory);
    if (!isUnderWay) void this.#followHints(memory.key);
  }

  /** Closes everything, in order. */
  async [Symbol.asyncDispose](): Promise<void> {
    await using closing = new AsyncDisposableStack();
    closing.use(this.#lock);
    closing.use(this.#duck);
    closing.use(this.#memories);
  }

  async #followHints(key: string): Promise<void> {
    let last: StoreMemory | undefined;
    for (let next = this.#following.get(key); next !== undefined && next !== last;) {
      last = next;
      try {
        await this.#memories.use(last, (opened) => opened.catchUp(last as StoreMemory));
      } catch (error) {
        this.#log("A memory's projections do not follow its journal.", key, error);
      }
      next = this.#following.get(key);
    }
    this.#following.delete(key);
  }

  async #open(memory: StoreMemory): Promise<OpenMemory> {
    const isSuspect = this.#suspects.delete(memory.key);
    const doubt = isSuspect ? "the store host ended again and again while it answered" : null;
    const parts = {
      duck: this.#duck,
      engines: this.#engines,
      notice: this.#options.notice,
      outside: this.#options.outside,
    };
    return await openMemory(parts, memory, doubt);
  }

  #log(message: string, memory: string, error: unknown): void {
    this.#options.notice({
      kind: "log",
      level: "warn",
      message,
      fields: { memory, reason: reasonOf(error) },
    });
  }
}

async function takeLock(path: string): Promise<FileLock> {
  const deadline = performance.now() + bounds.lockTimeoutMs;
  for (;;) {
    const lock = await acquireLock(path);
    if (!("heldBy" in lock)) return lock;
    if (performance.now() > deadline) {
      throw storageError(`Another store host, process ${lock.heldBy}, has "${path}". End it and try again.`);
    }
    await new Promise((resolve) => setTimeout(resolve, bounds.lockIntervalMs));
  }
}

function asJson(result: unknown): string {
  let json: string;
  try {
    json = JSON.stringify(result);
  } catch (error) {
    // Longer than a string can be.
    if (!(error instanceof RangeError)) throw error;
    throw tooLarge(Infinity);
  }
  if (json.length > bounds.maxAnswerCharacters) throw tooLarge(json.length);
  return json;
}

const tooLarge = (characters: number): Error =>
  limitExceeded(
    "answer",
    characters,
    `The answer is larger than ${bounds.maxAnswerCharacters} characters. Ask for fewer items.`,
  );
