import { join } from "node:path";
import { onTestFinished } from "vitest";
import { silentLog } from "../../base/log.ts";
import { ManualClock } from "../../base/testing/manual-clock.ts";
import type { Database } from "../../platform/database/database.ts";
import { openNearDatabase } from "../../platform/testing/near-database.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { type JobRequest, Jobs } from "../jobs.ts";
import { jobsMigrations } from "../migrations.ts";

/** Returns the request for a job without an input. */
export function request(change: Partial<JobRequest> = {}): JobRequest {
  return { name: "work", input: null, priority: "normal", whenIdle: false, ...change };
}

/** The jobs in a database of their own, which is closed when the test ends. */
export class JobBed {
  readonly clock: ManualClock;
  readonly #path: string;
  database: Database;
  jobs: Jobs;

  private constructor(path: string, clock: ManualClock, database: Database, jobs: Jobs) {
    this.#path = path;
    this.clock = clock;
    this.database = database;
    this.jobs = jobs;
  }

  static async create(): Promise<JobBed> {
    const path = join(await temporaryFolder(), "ledger.sqlite");
    const clock = new ManualClock();
    const database = await openDatabase(path);
    const bed: JobBed = new JobBed(path, clock, database, await Jobs.open(database, clock));
    onTestFinished(() => bed.database[Symbol.asyncDispose]());
    return bed;
  }

  /** Opens the database again, as the next kernel does. */
  async reopen(): Promise<void> {
    await this.database[Symbol.asyncDispose]();
    this.database = await openDatabase(this.#path);
    this.jobs = await Jobs.open(this.database, this.clock);
  }
}

const openDatabase = (path: string): Promise<Database> =>
  openNearDatabase({ path, migrations: jobsMigrations, log: silentLog });
