import type { KernelClient } from "../kernel-client.ts";
import { filePathsLike, waitingChangesLike } from "./files.ts";

/** What a word after `@` can mean. */
interface Found {
  readonly word: string;
  readonly paths: Awaited<ReturnType<typeof filePathsLike>>;
  readonly changes: Awaited<ReturnType<typeof waitingChangesLike>>;
}

/** Looks for what a word can mean: for one word at a time, and then for the last one that was typed meanwhile. */
export class Completion {
  readonly #kernel: () => KernelClient;
  readonly #found: (found: Found) => void;
  #typed: string | null = null;

  constructor(kernel: () => KernelClient, found: (found: Found) => void) {
    this.#kernel = kernel;
    this.#found = found;
  }

  async look(typed: string): Promise<void> {
    const isLooking = this.#typed !== null;
    this.#typed = typed;
    if (isLooking) return;
    try {
      for (let word: string | null = null; word !== this.#typed;) {
        word = this.#typed;
        const kernel = this.#kernel();
        const [paths, changes] = await Promise.all([
          filePathsLike(kernel, word),
          waitingChangesLike(kernel, word),
        ]);
        this.#found({ word, paths, changes });
      }
    } finally {
      this.#typed = null;
    }
  }
}
