import type { Clock } from "../../base/clock.ts";
import { isLaresError, LaresError, messageOf, requestCancelled } from "../../base/errors.ts";
import { newId } from "../../base/ids.ts";
import type { LaresEvent } from "../../base/vocabulary/event.ts";
import type { Foreign } from "../../base/vocabulary/foreign.ts";
import { lineageUnder, type ProcessPrincipal } from "../../base/vocabulary/principal.ts";
import type { AgentSession } from "../ports.ts";
import type { WriteTrace } from "../trace-writer.ts";
import type { OpenCalls } from "./open-calls.ts";

/** How long an agent may take to be loaded for a question, and then to answer it. */
export const questionBounds = { startMs: 10_000, answerMs: 2_000 } as const;

interface QuestionPorts {
  readonly clock: Clock;
  readonly open: OpenCalls;
  /** Resolves with the agent's session and wakes the agent if it is unloaded. Throws AgentError if it cannot run. */
  awake(): Promise<AgentSession>;
  /** Sends a request to the agent, counted as open work. */
  ask(session: AgentSession, method: string, params: unknown): Promise<unknown>;
  /** True if the loaded agent supports the request `cancelTool`. */
  cancelsTools(): boolean;
  readonly trace: WriteTrace;
}

/** Asks hooks of one agent about events before these take effect. A question is not stored: it is asked or it fails. */
export class Questions {
  readonly #ports: QuestionPorts;

  constructor(ports: QuestionPorts) {
    this.#ports = ports;
  }

  /**
   * Returns the hook's answer, unchecked. Before that, `hear` receives the texts that nobody vouches for and that the guest
   * has read. Rejects with the handler's error, or with AgentError if the agent cannot be loaded or does not answer in time.
   */
  async ask(
    handler: string,
    event: LaresEvent,
    principal: ProcessPrincipal,
    hear: (foreign: Foreign) => void,
  ): Promise<unknown> {
    const { clock, open, awake, ask } = this.#ports;
    const { startMs, answerMs } = questionBounds;
    const session = await within(clock, startMs, awake(), `It was not loaded within ${startMs} ms.`);
    const id = newId();
    open.begin(id, lineageUnder(principal));
    try {
      const answer = ask(session, "hook", { handler, event, call_id: id });
      return await within(clock, answerMs, answer, `It did not answer within ${answerMs} ms.`);
    } catch (error) {
      if (isLaresError(error, "AgentError")) this.#giveUp(session, id);
      throw error;
    } finally {
      hear(open.through(id));
      open.end(id);
    }
  }

  #giveUp(session: AgentSession, id: string): void {
    const { open, ask, cancelsTools, trace } = this.#ports;
    open.abort(id, requestCancelled("Nobody waits for the answer any more."));
    if (!cancelsTools()) return;
    ask(session, "cancelTool", { call_id: id }).catch((error: unknown) => {
      if (!isLaresError(error, "AgentError")) trace("warn", `a hook was not cancelled: ${messageOf(error)}`);
    });
  }
}

async function within<Result>(
  clock: Clock,
  ms: number,
  work: Promise<Result>,
  message: string,
): Promise<Result> {
  const late = Promise.withResolvers<never>();
  // A promise that loses the race may reject without being an unhandled rejection.
  work.catch(() => undefined);
  using _timer = clock.timer(ms, () => late.reject(new LaresError("AgentError", message)));
  return await Promise.race([work, late.promise]);
}
