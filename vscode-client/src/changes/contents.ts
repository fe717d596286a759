import type { Disposable } from "vscode";
import type { Kernel } from "../kernel/kernel.ts";
import type { Action } from "../protocol.ts";
import type { ChangeAddress } from "./addresses.ts";
import { contentOf, maxShownBytes } from "../deciding/content.ts";

/** The total size of cached contents; a single one may be as large as `maxShownBytes`. */
const maxKeptBytes = 32 * 1024 * 1024;
const maxKept = 64;
/** The number of texts that can be open for editing at once. */
export const maxEdited = 32;
/** The total size of what a person typed. */
const maxTypedBytes = maxEdited * maxShownBytes;

interface Kept {
  readonly content: Promise<Uint8Array | null>;
  size: number;
}

/** A proposed text that is open for editing. */
export interface Edited {
  readonly action: string;
  readonly effect: number;
  /** The digest of the proposal that was opened. The approval is bound to it. */
  readonly digest: Action["digest"];
  readonly proposedBytes: number;
  /** What the person saved; undefined as long as it is the proposed text. */
  typed: Uint8Array | undefined;
  modified: number;
}

/**
 * Owns the contents of changes. Contents from the kernel are cached once for all views, and are read again after
 * eviction. What a person typed exists nowhere else and is never evicted.
 */
export class ChangeContents implements Disposable {
  readonly #kernel: Pick<Kernel, "request">;
  readonly #kept = new Map<string, Kept>();
  readonly #edited = new Map<string, Edited>();

  constructor(kernel: Pick<Kernel, "request">) {
    this.#kernel = kernel;
  }

  /** Returns one side of an effect; null if it is larger than `maxShownBytes`. Rejects if the kernel refuses. */
  read(
    { digest, state }: Pick<Action, "digest" | "state">,
    { action, effect, side }: ChangeAddress,
  ): Promise<Uint8Array | null> {
    const key = `${action} ${digest} ${state} ${effect} ${side}`;
    const known = this.#kept.get(key);
    if (known !== undefined) {
      this.#kept.delete(key);
      this.#kept.set(key, known);
      return known.content;
    }
    const kept: Kept = { content: contentOf(this.#kernel, action, effect, side), size: 0 };
    this.#kept.set(key, kept);
    kept.content.then(
      (content) => {
        kept.size = content?.length ?? 0;
        this.#drop(kept);
      },
      // Failures are not cached.
      () => {
        if (this.#kept.get(key) === kept) this.#kept.delete(key);
      },
    );
    return kept.content;
  }

  /**
   * Opens a text for editing, under the key of its document. A text that is already open for the same proposal keeps
   * what was typed. Throws if too many texts with changes are open.
   */
  edit(key: string, text: Omit<Edited, "typed" | "modified">): void {
    const known = this.#edited.get(key);
    if (known?.digest === text.digest) return;
    if (known === undefined && this.#edited.size >= maxEdited) {
      const [unchanged] = [...this.#edited].find(([, { typed }]) => typed === undefined) ?? [];
      if (unchanged === undefined)
        throw new Error(
          `${maxEdited} texts that you changed are open already. Approve or close one of them first.`,
        );
      this.#edited.delete(unchanged);
    }
    this.#edited.set(key, { ...text, typed: undefined, modified: (known?.modified ?? 0) + 1 });
  }

  edited(key: string): Edited | undefined {
    return this.#edited.get(key);
  }

  /** Stores what the person saved. Throws if it is too large. */
  type(text: Edited, content: Uint8Array): void {
    const others = [...this.#edited.values()].reduce(
      (sum, { typed }) => sum + (typed?.length ?? 0),
      -(text.typed?.length ?? 0),
    );
    if (content.length > maxShownBytes || others + content.length > maxTypedBytes)
      throw new Error(`A text of more than ${maxShownBytes / 1024 / 1024} MiB cannot be kept here.`);
    text.typed = content;
    text.modified += 1;
  }

  /** Returns the texts of one action that are open for editing, with their keys. */
  editedOf(action: string): [string, Edited][] {
    return [...this.#edited].filter(([, text]) => text.action === action);
  }

  forget(key: string): void {
    this.#edited.delete(key);
  }

  /** The number of bytes of the kernel's contents in memory. */
  get keptBytes(): number {
    return [...this.#kept.values()].reduce((sum, { size }) => sum + size, 0);
  }

  dispose(): void {
    this.#kept.clear();
    this.#edited.clear();
  }

  /** Evicts the least recently used first; the latest one stays. */
  #drop(latest: Kept): void {
    let bytes = this.keptBytes;
    for (const [key, kept] of this.#kept) {
      if (bytes <= maxKeptBytes && this.#kept.size <= maxKept) break;
      // A content that is still being read is needed by its caller.
      if (kept === latest || kept.size === 0) continue;
      this.#kept.delete(key);
      bytes -= kept.size;
    }
  }
}
