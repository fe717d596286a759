import { createActor } from "xstate";
import { type Clock, isoTime } from "../../base/clock.ts";
import type { AgentCommand, AgentState } from "../../base/vocabulary/agent.ts";
import { lifecycleMachine, refusal, stateOf, type LifecycleActor, type LifecycleEvent } from "./machine.ts";

/** How long a command waits for its target state before it answers with the current state. */
const commandTimeoutMs = 15_000;

/** The state of one agent, since when and why, and the callers that wait for it to settle. */
export class Lifecycle {
  readonly #clock: Clock;
  readonly #actor: LifecycleActor;
  readonly #waiters = new Set<() => void>();
  #state: AgentState = "Unloaded";
  #since: string;

  /** `entered`: the agent is now in this state; `isSame`: only details of the state changed. */
  constructor(options: {
    readonly clock: Clock;
    readonly enabled: boolean;
    readonly entered: (state: AgentState, isSame: boolean) => void;
  }) {
    this.#clock = options.clock;
    this.#since = isoTime(this.#clock.now());
    this.#actor = createActor(lifecycleMachine, { input: { enabled: options.enabled } });
    this.#actor.subscribe((snapshot) => {
      const state = stateOf(snapshot);
      const isSame = state === this.#state;
      if (!isSame) {
        this.#state = state;
        this.#since = isoTime(this.#clock.now());
      }
      options.entered(state, isSame);
      if (isSame || this.isUnderWay) return;
      for (const resolve of this.#waiters) resolve();
      this.#waiters.clear();
    });
  }

  start(): void {
    this.#actor.start();
  }

  get state(): AgentState {
    return this.#state;
  }

  /** UTC, ISO 8601. */
  get since(): string {
    return this.#since;
  }

  get reason(): string | null {
    return this.#actor.getSnapshot().context.reason;
  }

  get enabled(): boolean {
    return this.#actor.getSnapshot().context.enabled;
  }

  /** While it shuts down: true if an error is the reason. */
  get endsInError(): boolean {
    return this.#actor.getSnapshot().context.after === "Error";
  }

  send(event: LifecycleEvent): void {
    this.#actor.send(event);
  }

  /** Returns why the command is not legal now; null if it is. */
  refusal(command: AgentCommand): string | null {
    return refusal(this.#actor.getSnapshot(), command);
  }

  /** Resolves when no transition is under way, or after `commandTimeoutMs`. */
  async settled(): Promise<void> {
    while (this.isUnderWay) {
      let expired = false;
      await new Promise<void>((resolve) => {
        const done = (): void => {
          timer[Symbol.dispose]();
          this.#waiters.delete(done);
          resolve();
        };
        const timer = this.#clock.timer(commandTimeoutMs, () => {
          expired = true;
          done();
        });
        this.#waiters.add(done);
      });
      if (expired) return;
    }
  }

  stop(): void {
    this.#actor.stop();
  }

  /** True in a transitional state. */
  get isUnderWay(): boolean {
    return this.#state === "Initializing" || this.#state === "ShuttingDown";
  }
}
