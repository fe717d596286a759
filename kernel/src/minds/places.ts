import type { Process } from "../base/vocabulary/conversation.ts";
import type { MindDefinition } from "../base/vocabulary/mind.ts";
import { Fifo } from "../base/fifo.ts";

/** A name, and how many may have a place under it at once. */
export interface Group {
  readonly name: string;
  readonly limit: number;
}

interface Waiting {
  readonly groups: readonly Group[];
  readonly resolve: (place: Disposable) => void;
  isGone: boolean;
}

/** Bounds how many processes work at once. The others wait in the order in which they came. */
export class Places {
  readonly #used = new Map<string, number>();
  readonly #waiting = new Fifo<Waiting>();

  /** True if a place in all of these groups is free. */
  isFree(groups: readonly Group[]): boolean {
    return groups.every(({ name, limit }) => (this.#used.get(name) ?? 0) < limit);
  }

  /** Waits for a place in all of these groups. Rejects with the signal's reason if it is aborted before that. */
  async take(groups: readonly Group[], signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted();
    if (this.isFree(groups)) return this.#use(groups);
    return await new Promise<Disposable>((resolve, reject) => {
      const leave = (): void => {
        waiting.isGone = true;
        this.#waiting.filter((each) => !each.isGone);
        reject(signal.reason as Error);
      };
      const waiting: Waiting = {
        groups,
        isGone: false,
        resolve: (place) => {
          signal.removeEventListener("abort", leave);
          resolve(place);
        },
      };
      signal.addEventListener("abort", leave, { once: true });
      this.#waiting.push(waiting);
    });
  }

  #use(groups: readonly Group[]): Disposable {
    for (const { name } of groups) this.#used.set(name, (this.#used.get(name) ?? 0) + 1);
    let isUsed = true;
    return {
      [Symbol.dispose]: () => {
        if (!isUsed) return;
        isUsed = false;
        for (const { name } of groups) {
          const left = (this.#used.get(name) ?? 1) - 1;
          if (left === 0) this.#used.delete(name);
          else this.#used.set(name, left);
        }
        this.#next();
      },
    };
  }

  /** A group that is full does not keep the others waiting. */
  #next(): void {
    this.#waiting.filter((waiting) => {
      if (!this.isFree(waiting.groups)) return true;
      waiting.resolve(this.#use(waiting.groups));
      return false;
    });
  }
}

/** Returns the groups in which a process needs a place. */
export function groupsOf(
  { kind, name = "" }: Process,
  { branches, workers }: MindDefinition,
  conversation: string,
  { atOnce, processes }: { readonly atOnce: number; readonly processes: number },
): Group[] {
  const all = { name: "all", limit: atOnce };
  // It answers at once, whatever else the conversation does.
  if (kind === "channel") return [all];
  // A process that has a place waits for it, so it must not wait for one of those.
  if (kind === "compaction") return [{ name: "compactions", limit: atOnce }];
  const ofKind =
    kind === "branch"
      ? branches.atOnce
      : kind === "worker"
        ? (workers.find((worker) => worker.name === name)?.atOnce ?? processes)
        : processes;
  return [
    all,
    { name: conversation, limit: processes },
    { name: `${conversation} ${kind} ${name}`, limit: ofKind },
  ];
}
