import type { Clock } from "../../base/clock.ts";
import { Fifo } from "../../base/fifo.ts";
import type { ModelEvent, ModelFailure } from "../../base/vocabulary/model.ts";
import { CreditWindow } from "../../platform/children/credit.ts";
import { inferenceBounds as bounds } from "../bounds.ts";
import type { RunPhase } from "../messages.ts";

interface ModelRunPorts {
  readonly clock: Clock;
  grant(events: number): void;
  cancel(): void;
  /** Kills the host, which does not do what it was told. */
  hung(): void;
  /** Called once, when the host is done with it. */
  left(): void;
}

/** One answer from the kernel's side. Its events end exactly once, whatever the host does. */
export class ModelRun {
  /** `provider/model`. */
  readonly #model: string;
  readonly #ports: ModelRunPorts;
  readonly #events = new Fifo<ModelEvent>();
  readonly #window: CreditWindow;
  readonly #left = Promise.withResolvers<void>();
  readonly #deadline: Disposable;
  #watch: Disposable;
  #changed = Promise.withResolvers<void>();
  /** The last event is in the queue or was taken. */
  #hasEnded = false;
  #hasLeft = false;
  #isSent = false;
  /** What the host does; null: it has not said yet. */
  #phase: RunPhase | null = null;

  constructor(model: string, ports: ModelRunPorts) {
    this.#model = model;
    this.#ports = ports;
    this.#window = new CreditWindow(bounds.windowEvents, (events) => ports.grant(events));
    const minutes = bounds.runTimeoutMs / 60_000;
    this.#deadline = ports.clock.timer(bounds.runTimeoutMs, () =>
      this.stop("Timeout", `The model "${model}" took more than ${minutes} minutes for one answer.`),
    );
    this.#watch = this.#watched();
  }

  /** Resolves when the host is done with it. */
  get left(): Promise<void> {
    return this.#left.promise;
  }

  /** The host has it, and may write. */
  sent(): void {
    this.#isSent = true;
    this.#window.open();
  }

  /** Ends it if no host ever got it. */
  leaveUnsent(): void {
    if (!this.#isSent) this.died({ class: "Cancelled", message: "The request was cancelled." });
  }

  /** True from the question until the host says that the model answers. */
  get isLoading(): boolean {
    return this.#isSent && this.#phase !== "answering";
  }

  progress(phase: RunPhase): void {
    this.#phase = phase;
    this.#rewatch();
  }

  received(event: ModelEvent): void {
    const isLast = event.type === "done" || event.type === "failed";
    if (isLast) this.#leave();
    else this.#rewatch();
    if (this.#hasEnded) return;
    this.#hasEnded = isLast;
    this.#events.push(event);
    this.#wake();
  }

  /** The host is gone. */
  died(failure: ModelFailure): void {
    this.#leave();
    this.#end(failure);
  }

  /** Ends it from the kernel's side. The host ends it too, or is killed. */
  stop(failureClass: "Cancelled" | "Timeout", message: string): void {
    if (this.#hasEnded) return;
    this.#end({ class: failureClass, message });
    this.#ports.cancel();
    this.#watch[Symbol.dispose]();
    this.#watch = this.#ports.clock.timer(bounds.cancelGraceMs, () => this.#ports.hung());
  }

  async *events(): AsyncGenerator<ModelEvent, void> {
    try {
      for (;;) {
        const event = this.#events.shift();
        if (event === undefined) {
          await this.#changed.promise;
          continue;
        }
        yield event;
        if (event.type === "done" || event.type === "failed") return;
        this.#window.taken(1);
      }
    } finally {
      this.stop("Cancelled", "The rest of the answer was not wanted.");
    }
  }

  #end(failure: ModelFailure): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    // What was written before it is shown no more.
    this.#events.clear();
    this.#events.push({ type: "failed", failure });
    this.#wake();
  }

  #leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.#deadline[Symbol.dispose]();
    this.#watch[Symbol.dispose]();
    this.#ports.left();
    this.#left.resolve();
  }

  #rewatch(): void {
    if (this.#hasEnded || this.#hasLeft) return;
    this.#watch[Symbol.dispose]();
    this.#watch = this.#watched();
  }

  #watched(): Disposable {
    return this.#ports.clock.timer(bounds.runIdleMs, () => {
      // It waits for whoever reads the answer.
      if (this.#events.length > 0) return this.#rewatch();
      const minutes = bounds.runIdleMs / 60_000;
      this.stop("Timeout", `The model "${this.#model}" computed nothing for ${minutes} minutes.`);
      this.#ports.hung();
    });
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}
