import type { Action } from "../base/vocabulary/action.ts";
import { noteOrigin, type Process } from "../base/vocabulary/conversation.ts";
import { entryOf } from "./entries.ts";
import type { MindPorts, ProcessLog } from "./ports.ts";

interface MadeChangesHost {
  readonly ports: Pick<MindPorts, "clock" | "reader">;
  readonly log: ProcessLog;
  readonly talker: Process | null;
}

/** Entries of actions in which an earlier one is looked for. */
const lookedAt = 1_000;
/** Actions that are known to be in the log. */
const maxKnown = 1_000;

/** True for an action that its conversation has to show even if no process waits for it. */
export function isShownAlone({ state, rebased_by: rebaser }: Action): boolean {
  return state === "Committed" || (state === "PendingApproval" && rebaser !== undefined);
}

/**
 * Logs the changes that a conversation caused but did not ask about: those that policy allowed, those that an agent proposed
 * on behalf of a process and the person approved elsewhere, and those that the person rebased. Without these entries the
 * conversation would not show them, and "undo the last change" would undo an older one.
 */
export class MadeChanges {
  readonly #host: MadeChangesHost;
  readonly #known = new Map<string, Promise<void>>();

  constructor(host: MadeChangesHost) {
    this.#host = host;
  }

  /** Resolves when the action is in the log, or does not belong there. */
  async record(action: Action): Promise<void> {
    const process = this.#processOf(action);
    if (process === null || !isShownAlone(action)) return;
    // The action's event and the result of the call that proposed it both announce it.
    let recording = this.#known.get(action.id);
    if (recording === undefined) {
      recording = this.#record(action, process).catch((error: unknown) => {
        this.#known.delete(action.id);
        throw error;
      });
      this.#known.set(action.id, recording);
      if (this.#known.size > maxKnown) this.#known.delete([...this.#known.keys()][0] ?? "");
    }
    await recording;
  }

  async #record({ id, state }: Action, process: string): Promise<void> {
    const { log, ports } = this.#host;
    // An action may be reported again, also by a later kernel.
    const known = await ports.reader.entries(log.id, { kinds: ["action"], limit: lookedAt, newest: true });
    if (known.some((entry) => entry.kind === "action" && entry.ref === id)) return;
    const maker = { process, turn: "", clock: ports.clock };
    // A person decides about what waits, as about any other action.
    const origin = state === "Committed" ? noteOrigin : "workspace";
    await log.append([entryOf(maker, { kind: "action", ref: id, state }, { origin })]);
  }

  /** Returns the process of this conversation that caused an action; null if none did. */
  #processOf({ on_behalf_of: causes = [] }: Action): string | null {
    const { log, talker } = this.#host;
    for (const actor of causes)
      if (actor.kind === "process" && actor.conversation === log.id) return actor.id ?? talker?.id ?? log.id;
    return null;
  }
}
