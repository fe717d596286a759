import { isLaresError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import {
  openDatabase,
  type Database,
  type DatabaseOptions,
  type SqlValue,
  type Statement,
  type StatementResult,
} from "../platform/database/database.ts";
import { join } from "../platform/files/paths.ts";
import { makePrivateFolder } from "../platform/files/state-folder.ts";
import { userStateMigrations } from "./migrations.ts";

export interface UserStateOptions {
  /** The folder with all state of Lares for this user. */
  readonly stateHome: string;
  readonly log: Log;
  readonly open?: (options: DatabaseOptions) => Promise<Database>;
}

/**
 * `user.sqlite`, which several kernels write. Opened by the first call, not at the kernel's start. If that fails,
 * only the call fails, and the next call tries again.
 */
export class UserState implements AsyncDisposable {
  readonly #options: UserStateOptions;
  #opened: Promise<Database> | undefined;

  constructor(options: UserStateOptions) {
    this.#options = options;
  }

  async query<Row>(sql: string, params: readonly SqlValue[] = []): Promise<readonly Row[]> {
    return await this.#use((database) => database.query<Row>(sql, params));
  }

  /**
   * Runs the statements as one transaction. Resolves once it is on disk, because money and secrets must survive a
   * power cut.
   */
  async batch(statements: readonly Statement[]): Promise<readonly StatementResult[]> {
    return await this.#use((database) => database.batch(statements, { durability: "power" }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
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
      if (this.#opened === opening && isLaresError(error, "StorageError")) await this[Symbol.asyncDispose]();
      else if (this.#opened === opening && !(await hasOpened(opening))) this.#opened = undefined;
      throw error;
    }
  }

  async #open(): Promise<Database> {
    const { stateHome, log, open = openDatabase } = this.#options;
    await makePrivateFolder(stateHome);
    return open({
      path: join(stateHome, "user.sqlite"),
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
