import { isoTime, type Clock } from "../../base/clock.ts";
import { LaresError, messageOf } from "../../base/errors.ts";
import { plainLine } from "../../base/plain-text.ts";
import type { AgentFailure } from "../../base/vocabulary/agent.ts";
import type { Place } from "../../base/vocabulary/common.ts";
import type { AgentSession } from "../ports.ts";

/** Maximum length of a failure's message, which the program chooses. */
const failureCharacters = 1_000;
/** Maximum number of handlers, jobs and tools whose failures are stored; the program chooses their names. */
const failuresKept = 256;
/** The handler name for failures of the program's start. */
const startHandler = "start";

/** The failures of one agent's handlers, jobs and tools that have not succeeded since. */
export class Failures {
  readonly #clock: Pick<Clock, "now">;
  readonly #changed: () => void;
  /** By handler, newest last. */
  readonly #failed = new Map<string, AgentFailure>();
  /** Guests whose end was counted: only the oldest open work had started. */
  readonly #lost = new WeakSet<AgentSession>();

  constructor(clock: Pick<Clock, "now">, changed: () => void) {
    this.#clock = clock;
    this.#changed = changed;
  }

  /** Returns the newest failure. */
  get last(): AgentFailure | undefined {
    return [...this.#failed.values()].at(-1);
  }

  succeeded(handler: string): void {
    if (this.#failed.delete(handler)) this.#changed();
  }

  failed(handler: string, error: unknown): void {
    this.#failed.delete(handler);
    const place = placeOf(error);
    this.#failed.set(handler, {
      handler: bounded(handler),
      message: bounded(messageOf(error)),
      at: isoTime(this.#clock.now()),
      ...(place === undefined ? {} : { place }),
    });
    const [oldest] = this.#failed.keys();
    if (this.#failed.size > failuresKept && oldest !== undefined) this.#failed.delete(oldest);
    this.#changed();
  }

  /** Like `failed`, if the guest ended during the handler; its other open work did not fail. */
  lost(handler: string, session: AgentSession, error: unknown): void {
    if (this.#lost.has(session)) return;
    this.#lost.add(session);
    this.failed(handler, error);
  }

  /** Clears the failures, because the program was replaced. */
  clear(): void {
    if (this.#failed.size === 0) return;
    this.#failed.clear();
    this.#changed();
  }
}

/**
 * Returns the name of the handler, job or tool that a request asks the guest to run; null if it is not program work.
 */
export function handlerOf(method: string, params: unknown): string | null {
  const { handler, name } = (params ?? {}) as { handler?: unknown; name?: unknown };
  if (method === "hook") return typeof handler === "string" ? handler : null;
  if (["job", "task", "tool", "action"].includes(method)) return typeof name === "string" ? name : null;
  return method === "initialize" || method === "startup" ? startHandler : null;
}

function bounded(text: string): string {
  const line = plainLine(text);
  return line.length <= failureCharacters ? line : `${line.slice(0, failureCharacters - 1).toWellFormed()}…`;
}

/** Returns the place that the kernel attached to a guest's error. A place from the guest itself is not trusted. */
function placeOf(error: unknown): Place | undefined {
  return error instanceof LaresError ? (error.facts["place"] as Place | undefined) : undefined;
}
