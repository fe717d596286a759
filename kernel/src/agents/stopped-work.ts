import { requestCancelled } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import { type Lineage, processKey } from "../base/vocabulary/principal.ts";

/** The number of stops that are remembered, of conversations and of single processes each. */
const maxKnown = 10_000;

/**
 * What minds' processes had begun when it was stopped, since this kernel started. Whatever such work has led to (the handler
 * of a tool that ignores its cancellation, what that left running, a job, another agent's handler) has this in its lineage,
 * so it is refused wherever it asks for something.
 */
export class StoppedWork {
  /** By conversation and by `processKey`: the time of the last stop, as an id. */
  readonly #conversations = new Map<string, string>();
  readonly #processes = new Map<string, string>();

  /** Stops what a conversation has begun until now, or what these of its processes have. */
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

  /** Throws RequestCancelled for what was stopped. */
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
