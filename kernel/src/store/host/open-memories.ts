import { storeBounds as bounds } from "../bounds.ts";
import type { StoreMemory } from "../../memory-contract/store-port.ts";

interface Slot<Opened> {
  readonly opened: Promise<Opened>;
  users: number;
  /** Resolves once it is closed; null while it is not closing. */
  closing: Promise<void> | null;
}

/** Open memories, up to a maximum: the least recently used one is closed for a new one. */
export class OpenMemories<Opened extends AsyncDisposable> implements AsyncDisposable {
  readonly #open: (memory: StoreMemory) => Promise<Opened>;
  readonly #notClosed: (key: string, error: unknown) => void;
  /** From the least to the most recently used. */
  readonly #slots = new Map<string, Slot<Opened>>();
  #left = Promise.withResolvers<void>();

  /** `notClosed`: called if a memory that was to make room failed to close. It counts as closed. */
  constructor(
    open: (memory: StoreMemory) => Promise<Opened>,
    notClosed: (key: string, error: unknown) => void,
  ) {
    this.#open = open;
    this.#notClosed = notClosed;
  }

  /** Returns true if it is open, or can be opened without closing another. */
  hasRoomFor({ key }: StoreMemory): boolean {
    return this.#slots.has(key) || this.#slots.size < bounds.maxOpenMemories;
  }

  /**
   * Opens the memory if needed and keeps it open until the work is done. Waits while all others are in use.
   */
  async use<Result>(memory: StoreMemory, work: (opened: Opened) => Promise<Result>): Promise<Result> {
    const slot = await this.#enter(memory);
    try {
      return await work(await slot.opened);
    } finally {
      slot.users--;
      this.#tell();
    }
  }

  /** Closes the memory after its users have ended. */
  async close(key: string): Promise<void> {
    for (let slot = this.#slots.get(key); slot !== undefined; slot = this.#slots.get(key)) {
      if (slot.users === 0) return await this.#close(key, slot);
      await this.#left.promise;
    }
  }

  /** Memories in use are closed without waiting for their users. */
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
    // The caller gets the error from `opened`; the next caller opens it again.
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
