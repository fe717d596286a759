import { join } from "node:path";
import { silentLog } from "../../base/log.ts";
import { systemClock } from "../../platform/clock.ts";
import { openDatabase } from "../../platform/database/database.ts";
import type { AgentMemory } from "../agent-memory.ts";
import { memoryMigrations } from "../records/heads.ts";
import { openMemory } from "../memory.ts";
import { FakeStore, fakeSettings } from "./fake-store.ts";

/** The modules that a child process imports which works on a memory until it dies. */
export const modules = {
  "{ openDatabase }": new URL("../../platform/database/database.ts", import.meta.url),
  "{ systemClock }": new URL("../../platform/clock.ts", import.meta.url),
  "{ silentLog }": new URL("../../base/log.ts", import.meta.url),
  "{ openMemory }": new URL("../memory.ts", import.meta.url),
  "{ FakeStore, fakeSettings }": new URL("./fake-store.ts", import.meta.url),
  "{ memoryMigrations }": new URL("../records/heads.ts", import.meta.url),
};

/** Opens the memory that a dead process left, as the next process does. */
export async function leftBehind(folder: string): Promise<{ agent: AgentMemory } & AsyncDisposable> {
  await using opened = new AsyncDisposableStack();
  const database = opened.use(
    await openDatabase({ path: join(folder, "ledger.sqlite"), migrations: memoryMigrations, log: silentLog }),
  );
  const memory = opened.use(
    await openMemory({
      stateFolder: folder,
      database,
      clock: systemClock,
      log: silentLog,
      store: new FakeStore(),
      storeSettings: () => fakeSettings,
      storageLimitBytes: () => 1e9,
      retentionDays: () => null,
      prunePolicy: () => null,
    }),
  );
  const agent = await memory.open("extension/dev.lares.test");
  const all = opened.move();
  return { agent, [Symbol.asyncDispose]: () => all.disposeAsync() };
}
