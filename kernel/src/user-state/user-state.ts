import { isLaresError, messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import {
  openDatabase,
  type Database,
  type DatabaseOptions,
  type Durability,
  type SqlValue,
  type Statement,
  type StatementResult,
} from "../platform/database/database.ts";
import { syncWriteAheadLog } from "../platform/database/write-ahead-log.ts";
import { join } from "../platform/files/paths.ts";
import { makePrivateFolder } from "../platform/files/state-folder.ts";
import { userStateMigrations } from "./migrations.ts";

interface UnsyncedState {
  bringToDisk(): Promise<void>;
}

interface UserStateOptions {
  /** The folder with all state of Lares for this user. */
  readonly stateHome: string;
  readonly log: Log;
  /**
   * Calls `bringToDisk` some milliseconds after `add`, unless `remove` came first; `journal/disk-timer.ts` implements it. By
   * default, every batch waits for the disk.
   */
  readonly disk?: { add(state: UnsyncedState): void; remove(state: UnsyncedState): void };
  /** Brings what was committed to the disk. */
  readonly synchronize?: (path: string) => Promise<void>;
  readonly open?: (options: DatabaseOptions) => Promise<Database>;
}

/**
 * `user.sqlite`, which several kernels write. Opened by the first call, not at the kernel's start. If that fails,
 * only the call fails, and the next call tries again.
 */
export class UserState implements AsyncDisposable, UnsyncedState {
  readonly #options: UserStateOptions;
  readonly #path: string;
  #opened: Promise<Database> | undefined;
  /** True if a power cut could still lose a batch. */
  #isUnsynced = false;
  #synchronizing: Promise<void> = Promise.resolve();
  /** True after the disk refused what was written: until it takes a batch, each one waits for it. */
  #isDiskFailing = false;

  constructor(options: UserStateOptions) {
    this.#options = options;
    this.#path = join(options.stateHome, "user.sqlite");
  }

  async query<Row>(sql: string, params: readonly SqlValue[] = []): Promise<readonly Row[]> {
    return await this.#use((database) => database.query<Row>(sql, params));
  }

  /**
   * Runs the statements as one transaction. With "power" it resolves once they are on disk. With "process" they survive the
   * death of any process when it resolves, and reach the disk with the next flush of the logs.
   */
  async batch(
    statements: readonly Statement[],
    durability: Durability = "power",
  ): Promise<readonly StatementResult[]> {
    const { disk } = this.#options;
    if (durability === "power" || disk === undefined || this.#isDiskFailing) {
      const results = await this.#use((database) => database.batch(statements, { durability: "power" }));
      this.#isDiskFailing = false;
      return results;
    }
    const results = await this.#use((database) => database.batch(statements));
    this.#isUnsynced = true;
    disk.add(this);
    return results;
  }

  /** Brings every finished batch to the disk. Reports a failure, and closes the file: the next call opens and checks it. */
  bringToDisk(): Promise<void> {
    return (this.#synchronizing = this.#synchronizing.then(() => this.#synchronize()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#options.disk?.remove(this);
    // While another process has the file open, closing it does not bring it to the disk.
    await this.bringToDisk();
    await this.#close();
  }

  async #synchronize(): Promise<void> {
    if (!this.#isUnsynced) return;
    this.#isUnsynced = false;
    const { log, synchronize = syncWriteAheadLog } = this.#options;
    try {
      await synchronize(this.#path);
    } catch (error) {
      this.#isDiskFailing = true;
      log.error(`Usage of models could not be brought to the disk: ${messageOf(error)}`, {
        path: this.#path,
      });
      await this.#close();
    }
  }

  async #close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    // A file that could not be opened needs no closing, and the caller got the error.
    const database = await opened?.catch(() => undefined);
    await database?.[Symbol.asyncDispose]();
  }

  async #use<Result>(run: (database: Database) => Promise<Result>): Promise<Result> {
    const opening = (this.#opened ??= this.#open());
    try {
      return await run(await opening);
    } catch (error) {
      // The file may be damaged or its thread gone: the next call opens and checks it again.
      if (this.#opened === opening && isLaresError(error, "StorageError")) await this.#close();
      else if (this.#opened === opening && !(await hasOpened(opening))) this.#opened = undefined;
      throw error;
    }
  }

  async #open(): Promise<Database> {
    const { stateHome, log, open = openDatabase } = this.#options;
    await makePrivateFolder(stateHome);
    return open({
      path: this.#path,
      sharedLock: join(stateHome, "user.lock"),
      migrations: userStateMigrations,
      log,
    });
  }
}

function hasOpened(opening: Promise<Database>): Promise<boolean> {
  return opening.then(
    () => true,
    () => false,
  );
}
