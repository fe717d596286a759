import { Worker } from "node:worker_threads";
import { LaresError, messageOf, storageError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type {
  DatabaseFailure,
  DatabaseJob,
  DatabaseOutcome,
  DatabaseReply,
  DatabaseRequest,
  DatabaseWorkerData,
} from "./database-messages.ts";
import { failpoint } from "../failpoint.ts";
import type { Migration, SqlValue, Statement, StatementResult } from "./statements.ts";
import { siblingModule } from "../files/sibling-module.ts";

export type { Migration, SqlValue, Statement, StatementResult };

/** "process": survives the death of any process. "power": also survives a power cut; waits for the disk. */
export type Durability = "process" | "power";

export interface Database extends AsyncDisposable {
  /**
   * Runs all statements or none; resolves after the commit. Calls take effect in call order. Concurrent calls share
   * one transaction with a savepoint each, so a failing one does not affect the others. Rejects with LaresError:
   * Conflict (a constraint or `expectChanges`), Busy (queue full, or another process holds the database),
   * StorageError (anything else).
   */
  batch(
    statements: readonly Statement[],
    options?: { readonly durability?: Durability },
  ): Promise<readonly StatementResult[]>;
  /**
   * Reads; sees every batch called before it. Queries that are called without waiting for one another see the same state,
   * unless another process writes. Only for statements that change nothing.
   */
  query<Row = Record<string, SqlValue>>(sql: string, params?: readonly SqlValue[]): Promise<readonly Row[]>;
}

/** Calls that may wait. Further ones are refused with Busy, so that a stuck disk does not fill memory. */
const maxQueuedCalls = 100_000;
/** The number of calls that share one transaction, so that the first need not wait for all. */
const maxCallsPerGroup = 1024;

export interface DatabaseOptions {
  readonly path: string;
  readonly migrations: readonly Migration[];
  /** The path of the lock file, where several processes have the database open at once; else one has it. */
  readonly sharedLock?: string;
  readonly log: Log;
}

/** The interface of the thread that owns the database's file: a `Worker`, or a substitute for one. */
export interface DatabaseThread {
  on(event: "message", listener: (reply: DatabaseReply) => void): unknown;
  on(event: "error", listener: (error: unknown) => void): unknown;
  once(event: "error", listener: (error: unknown) => void): unknown;
  once(event: "exit", listener: (code: number) => void): unknown;
  off(event: "message", listener: (reply: DatabaseReply) => void): unknown;
  off(event: "error", listener: (error: unknown) => void): unknown;
  postMessage(request: DatabaseRequest): void;
  ref(): void;
  unref(): void;
  terminate(): Promise<unknown>;
}

const startWorker = (workerData: DatabaseWorkerData): DatabaseThread =>
  new Worker(siblingModule(import.meta.url, "database-worker"), {
    workerData,
    name: "lares-database",
    execArgv: [],
  });

/** Opens the database file at `path` (or ":memory:") in a worker thread and applies migrations. */
export async function openDatabase(
  options: DatabaseOptions,
  startThread: (data: DatabaseWorkerData) => DatabaseThread = startWorker,
): Promise<Database> {
  const worker = startThread({
    path: options.path,
    migrations: [...options.migrations],
    ...(options.sharedLock === undefined ? {} : { sharedLock: options.sharedLock }),
  });
  const { promise: opened, resolve, reject } = Promise.withResolvers<boolean>();
  const onMessage = (reply: DatabaseReply): void => {
    if (reply.kind === "opened") resolve(reply.checkedAfterCrash);
    else if (reply.kind === "openFailed") reject(errorOf(reply.failure));
  };
  worker.on("message", onMessage);
  worker.once("error", reject);
  try {
    if (await opened)
      options.log.info("The database was not closed cleanly; it was checked and is whole.", {
        path: options.path,
      });
  } catch (error) {
    await worker.terminate();
    if (error instanceof LaresError) throw error;
    throw storageError(`The database "${options.path}" could not be opened: ${messageOf(error)}`, error);
  }
  worker.off("message", onMessage);
  worker.off("error", reject);
  return new WorkerDatabase(worker, options.path, options.log);
}

interface Call {
  readonly job: DatabaseJob;
  resolve(outcome: DatabaseOutcome): void;
  reject(error: LaresError): void;
}

class WorkerDatabase implements Database {
  readonly #worker: DatabaseThread;
  readonly #path: string;
  readonly #log: Log;
  #waiting: Call[] = [];
  #inFlight: Call[] = [];
  #flushScheduled = false;
  #closed: LaresError | undefined;
  #idle: (() => void) | undefined;
  readonly #exited: Promise<void>;

  constructor(worker: DatabaseThread, path: string, log: Log) {
    this.#worker = worker;
    this.#path = path;
    this.#log = log;
    worker.on("message", (reply: DatabaseReply) => this.#received(reply));
    worker.on("error", (error) => this.#died(messageOf(error)));
    this.#exited = new Promise((resolve) => {
      worker.once("exit", (code) => {
        this.#died(`its thread ended with code ${code}`);
        resolve();
      });
    });
    // Only pending calls keep the process alive.
    worker.unref();
  }

  async batch(
    statements: readonly Statement[],
    options: { readonly durability?: Durability } = {},
  ): Promise<readonly StatementResult[]> {
    if (statements.length === 0) return [];
    const outcome = await this.#enqueue({ kind: "batch", statements, power: options.durability === "power" });
    return outcome.kind === "batch" ? outcome.results : [];
  }

  async query<Row = Record<string, SqlValue>>(
    sql: string,
    params: readonly SqlValue[] = [],
  ): Promise<readonly Row[]> {
    const outcome = await this.#enqueue({ kind: "query", sql, params });
    // The caller knows the row type of its own SQL.
    return outcome.kind === "query" ? (outcome.rows as readonly Row[]) : [];
  }

  /** Finishes all earlier calls, then closes the file. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed === undefined) {
      this.#closed = storageError(`The database "${this.#path}" is closed.`);
      if (this.#waiting.length > 0 || this.#inFlight.length > 0) {
        await new Promise<void>((resolve) => (this.#idle = resolve));
      }
      this.#worker.ref();
      this.#worker.postMessage({ kind: "close" } satisfies DatabaseRequest);
    }
    await this.#exited;
  }

  #enqueue(job: DatabaseJob): Promise<DatabaseOutcome> {
    if (this.#closed !== undefined) return Promise.reject(this.#closed);
    if (this.#waiting.length >= maxQueuedCalls) {
      return Promise.reject(
        new LaresError(
          "Busy",
          `${maxQueuedCalls} calls wait for the database "${this.#path}" already. Try again later.`,
        ),
      );
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject });
      this.#scheduleFlush();
    });
  }

  /** One group runs at a time; calls that arrive meanwhile form the next one. */
  #scheduleFlush(): void {
    if (this.#flushScheduled || this.#inFlight.length > 0) return;
    this.#flushScheduled = true;
    queueMicrotask(() => {
      this.#flushScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#inFlight.length > 0 || this.#waiting.length === 0) return;
    const group =
      this.#waiting.length <= maxCallsPerGroup ? this.#waiting : this.#waiting.slice(0, maxCallsPerGroup);
    this.#waiting = group === this.#waiting ? [] : this.#waiting.slice(maxCallsPerGroup);
    const request: DatabaseRequest = { kind: "group", jobs: group.map((call) => call.job) };
    try {
      this.#worker.postMessage(request);
    } catch (error) {
      // A parameter cannot be sent between threads. That call must not fail the others.
      this.#refuseUnsendable(group, error);
      return;
    }
    this.#inFlight = group;
    this.#worker.ref();
  }

  #refuseUnsendable(group: readonly Call[], error: unknown): void {
    const sendable = group.filter((call) => {
      try {
        structuredClone(call.job);
        return true;
      } catch {
        call.reject(
          storageError(`A statement has a parameter that is not an SQL value: ${messageOf(error)}`, error),
        );
        return false;
      }
    });
    this.#waiting = [...sendable, ...this.#waiting];
    this.#flush();
    this.#settleIdle();
  }

  #received(reply: DatabaseReply): void {
    if (reply.kind !== "group") return;
    const group = this.#inFlight;
    this.#inFlight = [];
    failpoint("database.group.answered");
    // The next group is sent before this one's callers continue.
    this.#flush();
    group.forEach((call, index) => {
      const outcome = reply.outcomes[index];
      if (outcome === undefined) call.reject(storageError("The database gave no answer to this call."));
      else if (outcome.kind === "failed") call.reject(errorOf(outcome.failure));
      else call.resolve(outcome);
    });
    if (this.#inFlight.length === 0) this.#worker.unref();
    this.#settleIdle();
  }

  #settleIdle(): void {
    if (this.#inFlight.length === 0 && this.#waiting.length === 0) this.#idle?.();
  }

  #died(reason: string): void {
    const lost = [...this.#inFlight, ...this.#waiting];
    if (this.#closed === undefined) {
      this.#log.error("The database's thread ended unexpectedly.", { path: this.#path, reason });
      this.#closed = storageError(`The database "${this.#path}" is gone: ${reason}. Start the kernel again.`);
    }
    this.#inFlight = [];
    this.#waiting = [];
    const closed = this.#closed;
    for (const call of lost) call.reject(closed);
    this.#settleIdle();
  }
}

function errorOf(failure: DatabaseFailure): LaresError {
  return new LaresError(failure.code, failure.message, failure.facts);
}
