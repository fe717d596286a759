import { requestCancelled } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import { type Lineage, processKey } from "../base/vocabulary/principal.ts";

/** The number of stopped conversations that are remembered, and also of stopped processes. */
const maxKnown = 10_000;

/**
 * Remembers which work of minds was stopped since this kernel started. A lineage says when each of its processes began, so a
 * stop also reaches what agents do because of that work: a tool that ignores its cancellation, what a tool left running, a
 * job, and another agent's handler.
 */
export class StoppedWork {
  /** By conversation and by `processKey`: the time of the last stop, as an id. */
  readonly #conversations = new Map<string, string>();
  readonly #processes = new Map<string, string>();

  /** Stops the present work of a conversation or, if given, of these processes. Work that begins later is not affected. */
  stop(conversation: string, processes: Iterable<string> | null): void {
    const at = newId();
    if (processes === null) note(this.#conversations, conversation, at);
    else for (const id of processes) note(this.#processes, processKey({ conversation, id }), at);
  }

  isStopped({ onBehalfOf, begun }: Pick<Lineage, "onBehalfOf" | "begun">): boolean {
    if (begun === undefined) return false;
    return onBehalfOf.some((actor) => {
      if (actor.kind !== "process") return false;
      const key = processKey(actor);
      const since = begun[key];
      const isBefore = (stop = ""): boolean => since !== undefined && since < stop;
      return isBefore(this.#conversations.get(actor.conversation)) || isBefore(this.#processes.get(key));
    });
  }

  /** Throws RequestCancelled if the work was stopped. */
  check(lineage: Pick<Lineage, "onBehalfOf" | "begun">): void {
    if (this.isStopped(lineage)) throw requestCancelled("What this was for was stopped.");
  }
}

function note(stops: Map<string, string>, key: string, at: string): void {
  stops.delete(key);
  stops.set(key, at);
  const [oldest] = stops.keys();
  if (stops.size > maxKnown && oldest !== undefined) stops.delete(oldest);
}
