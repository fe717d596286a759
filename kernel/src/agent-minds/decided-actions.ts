import type { Action, ActionState } from "../base/vocabulary/action.ts";
import { decidedChange, type DecidedChange, isOfLineage, newestDecided } from "../minds/decided-changes.ts";
import type { Lineage } from "../minds/ports.ts";

interface DecidedPorts {
  get(id: string): Promise<Action | null>;
  /** Returns the newest ones. */
  list(query: { readonly state: ActionState; readonly limit: number }): Promise<readonly Action[]>;
}

/** The part of an action that is kept. Its texts are read again for each request, because a person may have removed them. */
interface Decided extends Pick<DecidedChange, "id" | "how" | "at">, Pick<Action, "created"> {
  /** Processes. */
  readonly on_behalf_of: NonNullable<Action["on_behalf_of"]>;
}

const decidedStates = ["Committed", "Rejected", "Undone"] as const satisfies ActionState[];
/** Actions of each state that are looked at, once. */
const maxListed = 200;
/** Actions that are kept, of all conversations. */
const maxKept = 1_000;

/** Finds what the person decided lately about the changes that conversations have led to. */
export class DecidedActions {
  readonly #actions: DecidedPorts;
  #kept = new Map<string, Decided>();
  #listed: Promise<void> | null = null;

  constructor(actions: DecidedPorts) {
    this.#actions = actions;
  }

  /** An action has changed. */
  take(action: Action): void {
    const decided = decidedOf(action);
    if (decided !== null) this.#keep([decided]);
  }

  /** Returns those of a conversation and of its origins, the oldest first. */
  async of(lineage: readonly Lineage[]): Promise<Action[]> {
    await (this.#listed ??= this.#list().catch((error: unknown) => {
      this.#listed = null;
      throw error;
    }));
    const own = [...this.#kept.values()].filter((decided) => isOfLineage(decided, lineage));
    const found = await Promise.all(newestDecided(own).map(({ id }) => this.#actions.get(id)));
    return found.filter((action) => action !== null);
  }

  async #list(): Promise<void> {
    const lists = await Promise.all(
      decidedStates.map((state) => this.#actions.list({ state, limit: maxListed })),
    );
    const found = lists.flat().map(decidedOf);
    // An action that changed during the search is known as it is now.
    this.#keep(found.filter((decided) => decided !== null && !this.#kept.has(decided.id)));
  }

  #keep(decided: readonly (Decided | null)[]): void {
    for (const each of decided) if (each !== null) this.#kept.set(each.id, each);
    if (this.#kept.size <= maxKept) return;
    const newest = [...this.#kept.values()].toSorted((one, other) => (one.at < other.at ? 1 : -1));
    this.#kept = new Map(newest.slice(0, maxKept).map((each) => [each.id, each]));
  }
}

function decidedOf(action: Action): Decided | null {
  const change = decidedChange(action);
  const processes = (action.on_behalf_of ?? []).filter(({ kind }) => kind === "process");
  if (change === null || processes.length === 0) return null;
  return { id: change.id, how: change.how, at: change.at, created: action.created, on_behalf_of: processes };
}
