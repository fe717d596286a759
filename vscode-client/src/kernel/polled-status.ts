import { EventEmitter, type Disposable } from "vscode";
import type { Connection } from "./connection.ts";
import type { Status } from "../protocol.ts";

/** The polling interval while the kernel indexes or starts. */
const whileStartingMs = 500;
/** The polling interval otherwise; detects a kernel that ended behind its front. */
const heartbeatMs = 10_000;
/** A kernel that does not answer for this long is considered to be restarting. */
const patienceMs = 2_500;
/** After this long without an answer, the person is told. */
export const silentMs = 10_000;
/** The polling interval while the kernel does not answer. */
const whileSilentMs = 5_000;
/**
 * The code with which a front rejects requests if it found no kernel that answers, with the reason as the message
 * (LSP's RequestFailed).
 */
const requestFailed = -32_803;

type Wire = Pick<Connection, "state" | "onDidChangeState" | "request" | "on">;

/** The last answer of `lares/status`; undefined while there is no kernel to answer. */
export class PolledStatus implements Disposable {
  readonly #wire: Wire;
  readonly #changed = new EventEmitter<void>();
  readonly onDidChange = this.#changed.event;
  readonly #subscriptions: Disposable[];
  #current: Status | undefined;
  #timer: NodeJS.Timeout | null = null;
  #silence: string | null = null;
  /** The open request; a request to an earlier process no longer counts. */
  #asking: object | null = null;
  #isStaleAnswer = false;

  constructor(wire: Wire) {
    this.#wire = wire;
    this.#subscriptions = [
      wire.onDidChangeState(({ kind }) => {
        this.#asking = null;
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

  /** Why nothing is known, if an answer is long overdue; otherwise null. */
  get silence(): string | null {
    return this.#silence;
  }

  /** Takes a status from the answer to another request, such as `lares/trust`. */
  take(status: Status): void {
    this.#set(status);
    this.#schedule();
  }

  /** Requests the status now; `onDidChange` reports changes. */
  refresh(): void {
    if (this.#asking !== null) {
      this.#isStaleAnswer = true;
      return;
    }
    void this.#ask();
  }

  dispose(): void {
    this.#cancel();
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#changed.dispose();
  }

  async #ask(): Promise<void> {
    if (this.#wire.state.kind !== "up") return;
    this.#cancel();
    const asking = {};
    this.#asking = asking;
    this.#isStaleAnswer = false;
    const ifStillOpen = (inMs: number, then: () => void): NodeJS.Timeout =>
      setTimeout(() => {
        if (this.#asking === asking) then();
      }, inMs);
    const late = ifStillOpen(patienceMs, () => this.#set(undefined, this.#silence));
    const silent = ifStillOpen(silentMs, () =>
      this.#set(undefined, `It has not answered for ${silentMs / 1000} seconds.`),
    );
    try {
      const status = await this.#wire.request("lares/status", {});
      if (this.#asking === asking) this.#set(status);
    } catch (error) {
      // The kernel is busy, or the connection ends because another kernel starts; asked again below.
      if (this.#asking === asking) this.#set(undefined, reasonOf(error));
    } finally {
      clearTimeout(late);
      clearTimeout(silent);
    }
    if (this.#asking !== asking) return;
    this.#asking = null;
    if (this.#isStaleAnswer) this.#soon();
    else this.#schedule();
  }

  #soon(): void {
    if (this.#asking !== null) this.#isStaleAnswer = true;
    else this.#schedule(whileStartingMs);
  }

  #schedule(inMs = this.#untilNextMs()): void {
    if (this.#wire.state.kind !== "up" || this.#asking !== null) return;
    this.#cancel();
    this.#timer = setTimeout(() => this.refresh(), inMs);
  }

  #untilNextMs(): number {
    if (this.#silence !== null) return whileSilentMs;
    return this.#current?.ready === true || isResting(this.#current) ? heartbeatMs : whileStartingMs;
  }

  #cancel(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #set(status: Status | undefined, silence: string | null = null): void {
    if (JSON.stringify(this.#current) === JSON.stringify(status) && this.#silence === silence) return;
    this.#current = status;
    this.#silence = silence;
    this.#changed.fire();
  }
}

/** Returns the front's reason if it has no kernel; null if it will have one. */
function reasonOf(error: unknown): string | null {
  return error instanceof Error && "code" in error && error.code === requestFailed ? error.message : null;
}

/** True for an untrusted connection: its kernel does nothing worth waiting for. */
function isResting(status: Status | undefined): boolean {
  return status !== undefined && !status.trusted;
}
