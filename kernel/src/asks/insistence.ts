import type { Clock } from "../base/clock.ts";
import { limitExceeded } from "../base/errors.ts";
import { canonicalJson } from "../base/json.ts";
import type { Subject } from "./questions.ts";

/** The number of questions of an agent's program that may be withdrawn in `quietMs`: clients show each to a person. */
const maxWithdrawn = 16;

/** How long a question that was denied once is not asked again, so that an agent cannot insist. */
const quietMs = 600_000;

/** What keeps agents from insisting: by asking again, and by withdrawing questions. */
export class Insistence {
  readonly #clock: Pick<Clock, "monotonic">;
  /** Until when a subject is quiet, by the monotonic clock. */
  readonly #quiet = new Map<string, number>();
  /** When questions of an agent were withdrawn, by the monotonic clock; the last `maxWithdrawn`. */
  readonly #withdrawn = new Map<string, readonly number[]>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
  }

  /** Returns the answer to what was denied a short while ago; null if it has to be asked. */
  quietAnswer(subject: Subject): false | null {
    const until = this.#quiet.get(canonicalJson({ ...subject }));
    return until !== undefined && this.#clock.monotonic() < until ? false : null;
  }

  denied(subject: Subject): void {
    const now = this.#clock.monotonic();
    for (const [key, until] of this.#quiet) if (until <= now) this.#quiet.delete(key);
    this.#quiet.set(canonicalJson({ ...subject }), now + quietMs);
  }

  withdrawn(agent: string): void {
    const known = this.#withdrawn.get(agent) ?? [];
    this.#withdrawn.set(agent, [...known, this.#clock.monotonic()].slice(-maxWithdrawn));
  }

  /** LimitExceeded if an agent withdrew so many that it may not ask for a while. */
  check(agent: string): void {
    const since = this.#clock.monotonic() - quietMs;
    const withdrawn = (this.#withdrawn.get(agent) ?? []).filter((at) => at > since).length;
    if (withdrawn < maxWithdrawn) return;
    throw limitExceeded(
      "withdrawnAsks",
      withdrawn,
      `${agent} asked a person ${withdrawn} questions and withdrew them before they were answered. It may ask again in a few minutes.`,
    );
  }
}
