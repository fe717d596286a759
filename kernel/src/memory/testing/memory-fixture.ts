import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type Log, silentLog } from "../../base/log.ts";
import { ManualClock } from "../../base/testing/manual-clock.ts";
import type { Database } from "../../platform/database/database.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { openNearDatabase } from "../../platform/testing/near-database.ts";
import type { AgentMemory } from "../agent-memory.ts";
import { memoryMigrations } from "../records/heads.ts";
import type { MemoryKey } from "../memory-key.ts";
import { type Memory, type MemoryOptions, openMemory } from "../memory.ts";
import { FakeStore, fakeSettings, linesOf } from "./fake-store.ts";

export const testKey: MemoryKey = "extension/dev.lares.test";

interface JournalLine {
  readonly seq: number;
  readonly operation: string;
  readonly kind: string;
  readonly id: string;
  readonly timestamp: string;
  readonly redacted?: true;
  readonly data?: Readonly<Record<string, unknown>>;
}

export interface MemoryFixture {
  readonly stateFolder: string;
  /** The folder of the memory with `testKey`. */
  readonly folder: string;
  readonly journal: string;
  readonly database: Database;
  readonly store: FakeStore;
  readonly clock: ManualClock;
  readonly warnings: string[];
  lines(): JournalLine[];
  start(options?: Partial<MemoryOptions>): Promise<Memory>;
  /** Opens the memory, runs the function, and closes the memory cleanly. */
  within<T>(run: (agent: AgentMemory) => Promise<T>, options?: Partial<MemoryOptions>): Promise<T>;
}

export async function memoryFixture(): Promise<MemoryFixture> {
  const stateFolder = await temporaryFolder();
  const database = await openNearDatabase({ path: ":memory:", migrations: memoryMigrations, log: silentLog });
  onTestFinished(() => database[Symbol.asyncDispose]());
  const store = new FakeStore();
  const clock = new ManualClock();
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => warnings.push(message) };
  const start = (options: Partial<MemoryOptions> = {}): Promise<Memory> =>
    openMemory({
      stateFolder,
      database,
      store,
      storeSettings: () => fakeSettings,
      clock,
      log,
      storageLimitBytes: () => 1e9,
      retentionDays: () => null,
      prunePolicy: () => null,
      ...options,
    });
  const folder = join(stateFolder, "extensions", "dev.lares.test", "memory");
  const journal = join(folder, "journal");
  return {
    stateFolder,
    folder,
    journal,
    database,
    store,
    clock,
    warnings,
    lines: () => linesOf(journal).map((line) => JSON.parse(line) as JournalLine),
    start,
    async within(run, options) {
      await using memory = await start(options);
      return await run(await memory.open(testKey));
    },
  };
}
