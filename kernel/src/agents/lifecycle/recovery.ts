import type { Clock } from "../../base/clock.ts";
import type { AgentState } from "../../base/vocabulary/agent.ts";
import type { WriteTrace } from "../trace-writer.ts";
import { NamedTimers } from "../timers.ts";
import { FailurePolicy } from "./failure-policy.ts";

interface RecoveryPorts {
  readonly clock: Clock;
  readonly state: () => AgentState;
  suspend(reason: string): void;
  resume(): void;
  /** It has crashed; it stays unloaded until `restart`. */
  crashed(): void;
  restart(): void;
  readonly trace: WriteTrace;
}

/** The consequences of one agent's failures and crashes: a pause before the next start, or a temporary suspension. */
export class Recovery implements Disposable {
  readonly #ports: RecoveryPorts;
  readonly #policy: FailurePolicy;
  readonly #timers: NamedTimers<"breaker" | "restart">;

  constructor(ports: RecoveryPorts) {
    this.#ports = ports;
    this.#policy = new FailurePolicy(ports.clock);
    this.#timers = new NamedTimers(ports.clock);
  }

  /** After a crash: when it may be started again. */
  get isPausing(): boolean {
    return this.#timers.has("restart");
  }

  succeeded(): void {
    this.#policy.succeeded();
  }

  failed(reason: string): void {
    this.#pauseFor(this.#policy.failed(reason));
  }

  crashed(reason: string, isSandboxFault: boolean): void {
    const { restartAfterMs, suspension } = this.#policy.ended(reason, isSandboxFault);
    this.#ports.trace("error", `ended: ${reason}`);
    this.#timers.set("restart", restartAfterMs, () => this.#ports.restart());
    this.#ports.crashed();
    this.#pauseFor(suspension);
  }

  /** Resets the state for a user's command or a new program. */
  isForgiven(): void {
    this.#policy.isForgiven();
  }

  /** The agent is now in this state. */
  entered(state: AgentState): void {
    if (state !== "Suspended") this.#timers.clear("breaker");
    if (state === "Initializing") this.#timers.clear("restart");
  }

  [Symbol.dispose](): void {
    this.#timers[Symbol.dispose]();
  }

  /** Suspends it for a while if there is a reason. */
  #pauseFor(suspension: string | null): void {
    if (suspension === null) return;
    this.#ports.suspend(suspension);
    this.#timers.set("breaker", this.#policy.pauseMs, () => {
      if (this.#ports.state() !== "Suspended" || !this.#policy.triesAgain()) return;
      this.#ports.trace("info", "trying again after a pause");
      this.#ports.resume();
    });
  }
}
