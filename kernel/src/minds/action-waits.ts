import { type Action, hasEnded } from "../base/vocabulary/action.ts";
import type { ToolResult } from "../base/vocabulary/tool-result.ts";
import { asError } from "./host.ts";

/** Calls that wait until a person or time has decided about an action. */
export class ActionWaits {
  readonly #get: (id: string) => Promise<Action | null>;
  readonly #waiting = new Map<string, Set<(action: Action) => void>>();

  constructor(get: (id: string) => Promise<Action | null>) {
    this.#get = get;
  }

  /** Resolves with the result of the call that proposed it. Rejects with the signal's reason. */
  async result(id: string, signal: AbortSignal): Promise<ToolResult> {
    const { promise, resolve, reject } = Promise.withResolvers<Action>();
    const waiting = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, waiting.add(resolve));
    const leave = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", leave, { once: true });
    try {
      if (signal.aborted) leave();
      // It may have ended before anybody waited.
      const known = await this.#get(id);
      return resultOf(known !== null && hasEnded(known.state) ? known : await promise);
    } finally {
      // Nobody may look at it any more.
      promise.catch(() => undefined);
      signal.removeEventListener("abort", leave);
      waiting.delete(resolve);
      if (waiting.size === 0) this.#waiting.delete(id);
    }
  }

  decided(action: Action): void {
    for (const resolve of this.#waiting.get(action.id) ?? []) resolve(action);
  }
}

function resultOf({ id, state, error, rejected_reason: reason = error }: Action): ToolResult {
  if (state === "Committed" || state === "Undone") return { status: "success", value: { action: id, state } };
  const why = (reason === undefined ? "" : `: ${reason}`).replace(/\.$/, "");
  const then = state === "Rejected" ? " The person does not want it: do not propose the same again." : "";
  return asError(`The change was not made (${state})${why}.${then}`);
}
