import { storeBounds as bounds } from "../bounds.ts";
import type { StoreMemory } from "../../memory-contract/store-port.ts";

interface Slot<Opened> {
  readonly opened: Promise<Opened>;
  users: number;
  /** While it is closed. */
  closing: Promise<void> | null;
}

/** Memories that are open, at most so many at once: the one that was not used for longest makes room. */
export class OpenMemories<Opened extends AsyncDisposable> implements AsyncDisposable {
  readonly #open: (memory: StoreMemory) => Promise<Opened>;
  readonly #notClosed: (key: string, error: unknown) => void;
  /** From the least to the most recently used. */
  readonly #slots = new Map<string, Slot<Opened>>();
  #left = Promise.withResolvers<void>();

  /** `notClosed`: one that made room could not be closed as it should. It counts as closed. */
  constructor(
    open: (memory: StoreMemory) => Promise<Opened>,
    notClosed: (key: string, error: unknown) => void,
  ) {
    this.#open = open;
    this.#notClosed = notClosed;
  }

  /** Whether it is open, or could be without another's making room. */
  hasRoomFor({ key }: StoreMemory): boolean {
    return this.#slots.has(key) || this.#slots.size < bounds.maxOpenMemories;
  }

  /** Opens it where it is not; it stays open until the work is done. Waits while all others are in use. */
  async use<Result>(memory: StoreMemory, work: (opened: Opened) => Promise<Result>): Promise<Result> {
    const slot = await this.#enter(memory);
    try {
      return await work(await slot.opened);
    } finally {
      slot.users--;
      this.#tell();
    }
  }

  /** Resolves when it is closed; who uses it is waited for. */
  async close(key: string): Promise<void> {
    for (let slot = this.#slots.get(key); slot !== undefined; slot = this.#slots.get(key)) {
      if (slot.users === 0) return await this.#close(key, slot);
      await this.#left.promise;
    }
  }

  /** Those in use are closed under their users. */
  async [Symbol.asyncDispose](): Promise<void> {
    const outcomes = await Promise.allSettled([...this.#slots].map(([key, slot]) => this.#close(key, slot)));
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  async #enter(memory: StoreMemory): Promise<Slot<Opened>> {
    for (;;) {
      const known = this.#slots.get(memory.key);
      if (known?.closing != null) {
        await Promise.allSettled([known.closing]);
      } else if (known !== undefined) {
        return this.#used(memory.key, known);
      } else if (this.#slots.size < bounds.maxOpenMemories) {
        return this.#begin(memory);
      } else {
        await this.#makeRoom();
      }
    }
  }

  #used(key: string, slot: Slot<Opened>): Slot<Opened> {
    this.#slots.delete(key);
    this.#slots.set(key, slot);
    slot.users++;
    return slot;
  }

  #begin(memory: StoreMemory): Slot<Opened> {
    const opened = this.#open(memory);
    const slot: Slot<Opened> = { opened, users: 0, closing: null };
    // The caller gets the error from `opened`; the next one tries again.
    opened.catch(() => this.#slots.get(memory.key) === slot && this.#slots.delete(memory.key));
    return this.#used(memory.key, slot);
  }

  async #makeRoom(): Promise<void> {
    for (const [key, slot] of this.#slots) {
      if (slot.users > 0) continue;
      return await this.#close(key, slot).catch((error: unknown) => this.#notClosed(key, error));
    }
    await this.#left.promise;
  }

  async #close(key: string, slot: Slot<Opened>): Promise<void> {
    slot.closing ??= (async () => {
      try {
        const opened = await slot.opened.catch(() => null);
        await opened?.[Symbol.asyncDispose]();
      } finally {
        if (this.#slots.get(key) === slot) this.#slots.delete(key);
        this.#tell();
      }
    })();
    await slot.closing;
  }

  #tell(): void {
    const { resolve } = this.#left;
    this.#left = Promise.withResolvers();
    resolve();
  }
}
