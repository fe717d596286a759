import { isLaresError, LaresError, messageOf } from "../../base/errors.ts";
import type { Clock } from "../../base/clock.ts";
import type { JsonValue } from "../../base/json.ts";
import type { Foreign, ReadTexts } from "../../base/vocabulary/foreign.ts";
import { waitUnlessAborted } from "../../base/wait.ts";
import { AgentSlots } from "../slots.ts";
import type { AgentSession, JobQueue } from "../ports.ts";
import { refuseUnknown } from "./unknown-name.ts";

/** Longest wait between two attempts. Milliseconds. */
const maxBackoffMs = 10 * 60 * 1000;

export interface TaskRequest {
  /** The task's name in the program. */
  readonly name: string;
  readonly input: JsonValue;
  /** Identifies the task within its job. */
  readonly key: string;
  readonly attempts: number;
  /** Before the second attempt; doubled before each further one. Milliseconds. */
  readonly backoffMs: number;
}

interface TaskPorts {
  readonly queue: Pick<JobQueue, "tasks">;
  readonly clock: Clock;
  readonly agent: {
    readonly id: string;
    ask(session: AgentSession, method: string, params: unknown): Promise<unknown>;
    taskNames(): ReadonlySet<string>;
    trace(level: "warn", message: string, fields: Record<string, unknown>): void;
    readonly open: { hear(foreign: Foreign): void; readonly read: ReadTexts };
  };
  /** Returns the guest that runs this job. Throws IllegalTransition if the job is not in hand, or was cancelled. */
  runs(job: string | undefined): { readonly job: string; readonly session: AgentSession };
}

/**
 * Runs the tasks of an agent's job: each once, with its own retries, and only a few at a time. A result is stored before the
 * job receives it, so that a restarted job does not repeat the task.
 */
export class JobTaskRunner {
  readonly #ports: TaskPorts;
  /** Running tasks by job and key. A second request of the same guest waits for the same result. */
  readonly #running = new Map<
    string,
    { readonly session: AgentSession; readonly result: Promise<JsonValue> }
  >();
  readonly #places: AgentSlots;

  constructor(ports: TaskPorts, atOnce: number) {
    this.#ports = ports;
    this.#places = new AgentSlots(atOnce, () => undefined);
  }

  set atOnce(count: number) {
    this.#places.limit = count;
  }

  /** Rejects with NotFound for an unknown task, with ToolError after the last attempt, with AgentError if the guest is lost. */
  async run(job: string | undefined, request: TaskRequest): Promise<JsonValue> {
    const running = this.#ports.runs(job);
    const id = `${running.job} ${request.key}`;
    const same = this.#running.get(id);
    if (same?.session === running.session) return await same.result;
    const task = {
      session: running.session,
      result: this.#once(running.job, running.session, request),
    };
    this.#running.set(id, task);
    try {
      return await task.result;
    } finally {
      // The next guest may run the same task by now.
      if (this.#running.get(id) === task) this.#running.delete(id);
    }
  }

  async #once(job: string, session: AgentSession, request: TaskRequest): Promise<JsonValue> {
    const { agent, queue } = this.#ports;
    const stored = await queue.tasks.result(job, request.key);
    if (stored !== null) {
      agent.open.hear(stored.foreign);
      return stored.result;
    }
    refuseUnknown("task", request.name, agent.taskNames());
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#attempt(job, session, request, attempt);
      session.restartBudget();
      if (answer !== undefined) {
        const { result, read } = answer;
        await queue.tasks.store(agent.id, job, request.key, { result, foreign: read.foreign });
        return result;
      }
      const waitMs = Math.min(maxBackoffMs, request.backoffMs * 2 ** (attempt - 1));
      await waitUnlessAborted(this.#ports.clock, waitMs, session.gone);
    }
  }

  /** Returns undefined if it failed and is to be tried again. */
  async #attempt(
    job: string,
    session: AgentSession,
    { name, input, attempts }: TaskRequest,
    attempt: number,
  ): Promise<{ readonly result: JsonValue; readonly read: ReadTexts } | undefined> {
    const { agent } = this.#ports;
    // Others may run while this one waits for its next attempt.
    using _place = await this.#places.acquire();
    // The job may have been cancelled, or its guest replaced, while this waited.
    if (this.#ports.runs(job).session !== session) throw guestReplaced();
    // Taken before the request, because the guest may end with its answer.
    const { read } = agent.open;
    try {
      const answer = await agent.ask(session, "task", { name, input, job });
      return { result: (answer ?? null) as JsonValue, read };
    } catch (error) {
      if (isLaresError(error, "AgentError")) throw error;
      const message = messageOf(error);
      if (attempt >= attempts) {
        const times = attempts === 1 ? "" : ` ${attempts} times`;
        throw new LaresError("ToolError", `The task ${name} failed${times}: ${message}`, { task: name });
      }
      agent.trace("warn", `the task ${name} failed and is tried again: ${message}`, { job, attempt });
      return undefined;
    }
  }
}

const guestReplaced = (): LaresError =>
  new LaresError("AgentError", "The guest that ran the job has ended; the job continues in another one.");
