import { EventEmitter, type Disposable } from "vscode";
import type { Connection } from "../kernel/connection.ts";
import type { Status } from "../protocol.ts";
import type { StatusModel } from "./ports.ts";

/** Asked again so soon while the kernel indexes or starts. */
const whileStartingMs = 500;
/** And so seldom when nothing is expected: a kernel that ended behind its front is noticed by it. */
const heartbeatMs = 10_000;
/** A kernel that does not answer for so long is being started again. */
const patienceMs = 2_500;

type Wire = Pick<Connection, "state" | "onDidChangeState" | "request" | "on">;

/** What `lares/status` last said; undefined while the kernel cannot say it. */
export class PolledStatus implements StatusModel, Disposable {
  readonly #wire: Wire;
  readonly #changed = new EventEmitter<void>();
  readonly onDidChange = this.#changed.event;
  readonly #subscriptions: Disposable[];
  #current: Status | undefined;
  #timer: NodeJS.Timeout | null = null;
  #isAsking = false;
  #isStaleAnswer = false;

  constructor(wire: Wire) {
    this.#wire = wire;
    this.#subscriptions = [
      wire.onDidChangeState(({ kind }) => {
        if (kind === "up") this.refresh();
        else this.#set(undefined);
      }),
      wire.on("lares/agents/changed", () => this.#soon()),
      wire.on("lares/actions/changed", () => this.#soon()),
    ];
    if (wire.state.kind === "up") this.refresh();
  }

  get current(): Status | undefined {
    return this.#current;
  }

  /** Takes an answer that came another way, as that of `lares/trust`. */
  take(status: Status): void {
    this.#set(status);
    this.#schedule();
  }

  /** Asks now; what changes is told by `onDidChange`. */
  refresh(): void {
    if (this.#isAsking) {
      this.#isStaleAnswer = true;
      return;
    }
    this.#ask().catch(() => this.#set(undefined));
  }

  dispose(): void {
    this.#cancel();
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#changed.dispose();
  }

  async #ask(): Promise<void> {
    if (this.#wire.state.kind !== "up") return;
    this.#cancel();
    this.#isAsking = true;
    this.#isStaleAnswer = false;
    const late = setTimeout(() => this.#set(undefined), patienceMs);
    try {
      this.#set(await this.#wire.request("lares/status", {}));
    } catch {
      // Busy while another kernel starts behind the front; asked again below.
      this.#set(undefined);
    } finally {
      clearTimeout(late);
      this.#isAsking = false;
    }
    if (this.#isStaleAnswer) this.#soon();
    else this.#schedule();
  }

  #soon(): void {
    if (this.#isAsking) this.#isStaleAnswer = true;
    else this.#schedule(whileStartingMs);
  }

  #schedule(
    inMs = this.#current?.ready === true || isResting(this.#current) ? heartbeatMs : whileStartingMs,
  ): void {
    if (this.#wire.state.kind !== "up" || this.#isAsking) return;
    this.#cancel();
    this.#timer = setTimeout(() => this.refresh(), inMs);
  }

  #cancel(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #set(status: Status | undefined): void {
    if (JSON.stringify(this.#current) === JSON.stringify(status)) return;
    this.#current = status;
    this.#changed.fire();
  }
}

/** An untrusted connection's kernel does nothing that one would wait for. */
function isResting(status: Status | undefined): boolean {
  return status !== undefined && !status.trusted;
}
