import { isLaresError } from "../../base/errors.ts";
import type { Inspector } from "../calls/inspector.ts";
import type { AgentSession } from "../ports.ts";
import { type Failures, handlerOf } from "./failures.ts";

interface RequestPorts {
  readonly failures: Failures;
  readonly inspector: Inspector;
  /** Counts the request as open work while it lasts. */
  inHand<Result>(work: () => Promise<Result>): Promise<Result>;
  /** True while the running job is being cancelled. */
  isCancellingJob(): boolean;
  wasEndedOnPurpose(session: AgentSession): boolean;
}

/** Sends requests to one agent. Every failure of its program passes through here. */
export class Requests {
  readonly #ports: RequestPorts;

  constructor(ports: RequestPorts) {
    this.#ports = ports;
  }

  async ask(session: AgentSession, method: string, params: unknown): Promise<unknown> {
    const { failures, inHand, inspector } = this.#ports;
    const handler = handlerOf(method, params);
    try {
      const answer = await inHand(() =>
        handler === null || !inspector.isOn
          ? session.request(method, params)
          : inspector.request(method, handler, params, () => session.request(method, params)),
      );
      if (handler !== null) failures.succeeded(handler);
      return answer;
    } catch (error) {
      if (handler !== null) this.#failed(handler, method, session, error);
      throw error;
    }
  }

  #failed(handler: string, method: string, session: AgentSession, error: unknown): void {
    const { failures, isCancellingJob, wasEndedOnPurpose } = this.#ports;
    // Neither a job that a user cancelled nor a guest that was told to end has failed.
    if (method === "job" && isCancellingJob()) return;
    if (!isLaresError(error, "AgentError")) failures.failed(handler, error);
    else if (!wasEndedOnPurpose(session)) failures.lost(handler, session, error);
  }
}
