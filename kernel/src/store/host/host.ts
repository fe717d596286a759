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
  /** Absolute path; all memories have their folders beneath it. */
  readonly stateFolder: string;
  notice(notice: StoreNotice): void;
  /** Sends the embedders' requests to the kernel. */
  readonly outside: EmbedderPorts;
  /**
   * Called when nothing can be answered any more: the process has to end, and the kernel starts the next one.
   */
  failed(error: unknown): void;
}

type Request = Omit<Extract<ToHost, { kind: "request" }>, "kind" | "id">;

/** The store host without its pipe. */
export class StoreHost implements AsyncDisposable {
  readonly #options: StoreHostOptions;
  readonly #lock: FileLock;
  readonly #duck: Duck;
  readonly #engines = new Engines();
  readonly #memories: OpenMemories<OpenMemory>;
  /** Memories that are being brought up to a hint, with the newest hint. */
  readonly #following = new Map<string, StoreMemory>();
  /** Memories whose files are discarded when they are opened next. */
  readonly #quarantined = new Set<string>();
  /** Memories whose files were discarded once; files that this host made itself are trusted. */
  readonly #discarded = new Set<string>();

  private constructor(options: StoreHostOptions, lock: FileLock, duck: Duck) {
    this.#options = options;
    this.#lock = lock;
    this.#duck = duck;
    this.#memories = new OpenMemories(
      (memory) => this.#open(memory),
      (key, error) => this.#log("A memory's projections were not closed as they should be.", key, error),
    );
  }

  /** Throws StorageError if another host holds the folder's lock for longer than `lockTimeoutMs`. */
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

  /** Returns the answer as JSON. Throws the signal's reason if it is aborted before the memory is asked. */
  async answer({ name, memory, params, isQuarantined }: Request, signal?: AbortSignal): Promise<string> {
    const { key } = memory;
    if (isQuarantined && !this.#discarded.has(key)) {
      this.#discarded.add(key);
      await this.#memories.close(key);
      this.#quarantined.add(key);
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

  /** Follows the journal in the background; the newest hint counts. A hint never closes another memory. */
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
    const isQuarantined = this.#quarantined.delete(memory.key);
    const quarantineReason = isQuarantined ? "the store host ended again and again while it answered" : null;
    const parts = {
      duck: this.#duck,
      engines: this.#engines,
      notice: this.#options.notice,
      outside: this.#options.outside,
    };
    return await openMemory(parts, memory, quarantineReason);
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
    // Larger than the longest string.
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
