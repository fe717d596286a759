import { EventEmitter, type Disposable } from "vscode";
import type { Action, Effect } from "../protocol.ts";

/** At most so many files are looked at for all that waits. */
export const maxFiles = 200;
/** Changes of files that come close to each other are looked at once. */
export const settleMs = 300;

/** SHA-256 of a file as the kernel writes it; null: there is none; undefined: that cannot be told. */
export type HashOf = (path: string) => Promise<Effect["before"] | undefined>;

/**
 * Which of the waiting actions start from files that are something else by now. The kernel looks again at every
 * approval; this is so that a person sees it before.
 */
export class Drift implements Disposable {
  readonly #pending: () => readonly Action[];
  readonly #hashOf: HashOf;
  readonly #changed = new EventEmitter<void>();
  readonly onDidChange = this.#changed.event;
  #drifted = new Map<string, string>();
  #timer: NodeJS.Timeout | null = null;
  #isLooking = false;

  constructor(pending: () => readonly Action[], hashOf: HashOf) {
    this.#pending = pending;
    this.#hashOf = hashOf;
  }

  /** The first path of the action that is no longer what it was; undefined where nothing is known to have changed. */
  pathOf(action: string): string | undefined {
    return this.#drifted.get(action);
  }

  /** Files or actions have changed. */
  lookSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      if (this.#isLooking) this.lookSoon();
      else void this.look();
    }, settleMs);
  }

  async look(): Promise<void> {
    this.#isLooking = true;
    try {
      this.#take(await this.#find());
    } finally {
      this.#isLooking = false;
    }
  }

  async #find(): Promise<Map<string, string>> {
    const drifted = new Map<string, string>();
    let files = 0;
    for (const { id, effects } of this.#pending())
      for (const { path, before } of bases(effects)) {
        if (++files > maxFiles) break;
        const now = await this.#hashOf(path);
        if (now === undefined || now === before) continue;
        drifted.set(id, path);
        break;
      }
    return drifted;
  }

  #take(drifted: Map<string, string>): void {
    const isSame =
      drifted.size === this.#drifted.size && [...drifted.keys()].every((id) => this.#drifted.has(id));
    this.#drifted = drifted;
    if (!isSame) this.#changed.fire();
  }

  dispose(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#changed.dispose();
  }
}

/**
 * The first file that these effects start from and that is something else by now; undefined where there is none, or none
 * that can be told.
 */
export async function pathMovedOn(effects: readonly Effect[], hashOf: HashOf): Promise<string | undefined> {
  for (const { path, before } of bases(effects).slice(0, maxFiles)) {
    const now = await hashOf(path);
    if (now !== undefined && now !== before) return path;
  }
  return undefined;
}

/** The files that effects start from: of each path only the first, the others start from what that one leaves. */
function bases(effects: readonly Effect[]): { path: string; before: Effect["before"] }[] {
  const seen = new Set<string>();
  return effects.flatMap((effect) => {
    const path = effect.from ?? effect.path;
    const isFirst = !seen.has(path) && !seen.has(effect.path);
    seen.add(path).add(effect.path);
    return isFirst && effect.kind.startsWith("file.") ? [{ path, before: effect.before }] : [];
  });
}
