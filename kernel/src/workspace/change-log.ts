import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { EntryChange } from "../base/vocabulary/event.ts";
import type { Database, Statement } from "../platform/database/database.ts";
import { failpoint } from "../platform/failpoint.ts";
import { workspaceLimits, workspaceTimes } from "./limits.ts";
import { rowStatements, type EntryRow } from "./rows.ts";

/** One change of the index: the new row of the table, and the change to report to agents, if any. */
interface Step {
  readonly id: string;
  readonly row: EntryRow | null;
  readonly change: EntryChange | null;
}

interface Deliver {
  (changes: readonly EntryChange[]): { readonly statements: readonly Statement[]; committed(): void };
}

/**
 * Stores the changes of the index in order, one transaction after the other, together with their deliveries. The index
 * in memory is ahead of the table by the changes that wait here, so a change is reported only once a query shows it. A
 * transaction that fails is retried until it succeeds, and later ones wait.
 */
export class ChangeLog implements AsyncDisposable {
  readonly #ports: { database: Database; clock: Clock; log: Log; deliver: Deliver };
  #steps: Step[] = [];
  #storing: Promise<void> | null = null;
  #stopped = false;
  /** The last transaction failed and is being retried. */
  #isStalled = false;
  readonly #stallWaiters = new Set<() => void>();
  #wakeRetry: (() => void) | null = null;
  #batchWaiters: (() => void)[] = [];

  constructor(ports: { database: Database; clock: Clock; log: Log; deliver: Deliver }) {
    this.#ports = ports;
  }

  /** The number of steps that wait or are being stored. */
  get waiting(): number {
    return this.#steps.length;
  }

  add(step: Step): void {
    this.#steps.push(step);
    this.#storing ??= this.#store();
  }

  /** Resolves when everything added before is stored and delivered (or the log was disposed). */
  async flushed(): Promise<void> {
    while (this.#storing !== null) await this.#storing;
  }

  /** The same, but does not wait for a failing disk: resolves with false then. */
  async flushedUnlessStalled(): Promise<boolean> {
    const stalled = Promise.withResolvers<false>();
    const stall = (): void => stalled.resolve(false);
    if (this.#isStalled) stall();
    this.#stallWaiters.add(stall);
    try {
      return await Promise.race([this.flushed().then(() => true), stalled.promise]);
    } finally {
      this.#stallWaiters.delete(stall);
    }
  }

  /** Resolves at once unless too many steps wait; then, when half of them are stored. */
  async room(): Promise<void> {
    if (this.#steps.length <= workspaceLimits.changesWaiting) return;
    while (this.#storing !== null && this.#steps.length > workspaceLimits.changesWaiting / 2) {
      await new Promise<void>((resolve) => this.#batchWaiters.push(resolve));
    }
  }

  async #store(): Promise<void> {
    // Steps that are added in the same turn belong in the same transaction.
    await Promise.resolve();
    while (this.#steps.length > 0 && !this.#stopped) {
      const steps = this.#steps.slice(0, workspaceLimits.changesPerBatch);
      const rows = new Map(steps.map((step) => [step.id, step.row]));
      const changes = steps.flatMap((step) => step.change ?? []);
      const delivery = changes.length > 0 ? this.#ports.deliver(changes) : null;
      const statements = [...rowStatements(rows), ...(delivery?.statements ?? [])];
      if (!(await this.#untilStored(statements))) break;
      this.#steps = this.#steps.slice(steps.length);
      delivery?.committed();
      failpoint("index.store.announced");
      this.#wakeBatchWaiters();
    }
    this.#storing = null;
    this.#wakeBatchWaiters();
  }

  #wakeBatchWaiters(): void {
    for (const resolve of this.#batchWaiters.splice(0)) resolve();
  }

  async #untilStored(statements: readonly Statement[]): Promise<boolean> {
    for (let waitMs: number = workspaceTimes.retryFirstMs; ; waitMs *= 2) {
      try {
        failpoint("index.store.begun");
        await this.#ports.database.batch(statements);
        failpoint("index.store.committed");
        this.#isStalled = false;
        return true;
      } catch (error) {
        if (this.#stopped) return false;
        this.#isStalled = true;
        for (const stall of this.#stallWaiters) stall();
        const delayMs = Math.min(waitMs, workspaceTimes.retryAtMostMs);
        this.#ports.log.error("The index could not store changes; this is retried.", {
          error: messageOf(error),
          waiting: this.#steps.length,
          delayMs,
        });
        await new Promise<void>((resolve) => {
          const timer = this.#ports.clock.timer(delayMs, resolve);
          this.#wakeRetry = () => {
            timer[Symbol.dispose]();
            resolve();
          };
        });
        if (this.#stopped) return false;
      }
    }
  }

  /** Ends after the current transaction; changes that are not stored are found again at the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopped = true;
    this.#wakeRetry?.();
    await this.flushed();
  }
}
