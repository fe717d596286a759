import type { Action } from "../base/vocabulary/action.ts";
import type { Lineage, MindPorts, ProcessLog } from "./ports.ts";

/** What the person made of a change that a process of the conversation, or an agent on its behalf, has proposed. */
export interface DecidedChange {
  readonly id: string;
  readonly how: "approved" | "rejected" | "undone";
  /** In the words of whoever proposed it. */
  readonly title: string;
  /** Why the person rejected it. */
  readonly reason?: string;
  readonly at: string;
  /** Where texts come from that led to it and that nobody vouches for. */
  readonly sources: readonly string[];
}

/** The maximum number of those that were approved, and of the others, that are known at once. */
const maxKnown = 8;

/** Returns what the person made of an action; null if they have not decided about it. */
export function decidedChange(action: Action): DecidedChange | null {
  const { id, state, title, sources = [], rejected_reason: reason, decided, created } = action;
  const how = howOf(action);
  if (how === null) return null;
  const at = action.ended ?? decided ?? created;
  return { id, how, title, at, sources, ...(state === "Rejected" && reason !== undefined ? { reason } : {}) };
}

/** True for an action that a process of one of these conversations caused. */
export function isOfLineage(
  { on_behalf_of: causes = [], created }: Pick<Action, "on_behalf_of" | "created">,
  lineage: readonly Lineage[],
): boolean {
  return lineage.some(
    ({ conversation, until }) =>
      (until === undefined || created <= until) &&
      causes.some((actor) => actor.kind === "process" && actor.conversation === conversation),
  );
}

function howOf({ state, decided_by: by }: Action): DecidedChange["how"] | null {
  // Only a person undoes a change, whoever approved it.
  if (state === "Undone") return "undone";
  if (by !== "user") return null;
  return state === "Committed" ? "approved" : state === "Rejected" ? "rejected" : null;
}

/** The person's recent decisions about a conversation's changes, from the ledger of actions. */
export class DecidedChanges {
  readonly #ports: Pick<MindPorts, "actions" | "reader">;
  readonly #log: Pick<ProcessLog, "id" | "header">;
  #lineage: readonly Lineage[] | null = null;
  #known: readonly DecidedChange[] = [];

  constructor({
    ports,
    log,
  }: {
    readonly ports: Pick<MindPorts, "actions" | "reader">;
    readonly log: ProcessLog;
  }) {
    this.#ports = ports;
    this.#log = log;
  }

  /** The oldest first. */
  get known(): readonly DecidedChange[] {
    return this.#known;
  }

  /** The sources that a text inherits if it is made from their titles. */
  get sources(): readonly string[] {
    return [...new Set(this.#known.flatMap(({ sources }) => sources))];
  }

  /** Reads them again: a person may have had a title removed. */
  async load(): Promise<void> {
    const before = this.#known;
    this.#lineage ??= await this.#findLineage();
    const found = await this.#ports.actions.decidedOf(this.#lineage);
    const meanwhile = this.#known.filter((change) => !before.includes(change));
    this.#known = [];
    this.#add(found.map(decidedChange));
    this.#add(meanwhile);
  }

  /** An action has changed. */
  take(action: Action): void {
    if (isOfLineage(action, this.#lineage ?? [{ conversation: this.#log.id }]))
      this.#add([decidedChange(action)]);
  }

  /** A fork's messages mention changes that its origins made. */
  async #findLineage(): Promise<readonly Lineage[]> {
    const { id, header } = this.#log;
    if (header.forked_from === undefined) return [{ conversation: id }];
    const { reader } = this.#ports;
    return await Promise.all(
      (await reader.stretchesOf(id)).map(async ({ conversation, through }): Promise<Lineage> => {
        if (conversation === id) return { conversation };
        const [last] = await reader.entries(id, { through, newest: true, limit: 1 });
        return { conversation, until: last?.created ?? "" };
      }),
    );
  }

  #add(changes: readonly (DecidedChange | null)[]): void {
    const added = changes.filter((change) => change !== null);
    const isReplaced = new Set(added.map(({ id }) => id));
    this.#known = newestDecided([...this.#known.filter(({ id }) => !isReplaced.has(id)), ...added]);
  }
}

/** Returns those that are worth telling, the oldest first: many that were approved do not hide one that was undone. */
export function newestDecided<Decided extends Pick<DecidedChange, "how" | "at">>(
  changes: readonly Decided[],
): Decided[] {
  const sorted = changes.toSorted((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
  const newest = new Set([
    ...sorted.filter(({ how }) => how === "approved").slice(-maxKnown),
    ...sorted.filter(({ how }) => how !== "approved").slice(-maxKnown),
  ]);
  return sorted.filter((change) => newest.has(change));
}
