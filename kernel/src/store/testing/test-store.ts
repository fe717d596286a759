import { onTestFinished } from "vitest";
import type { Log } from "../../base/log.ts";
import { systemClock } from "../../platform/clock.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { createStore, type StoreOptions } from "../client/store-client.ts";
import type { Store, StoreNotice } from "../../memory-contract/store-port.ts";
import { TestJournal } from "./test-journal.ts";

export interface TestStore {
  readonly stateFolder: string;
  readonly journal: TestJournal;
  readonly store: Store;
  readonly notices: StoreNotice[];
  readonly logged: { readonly level: string; readonly message: string; readonly fields: unknown }[];
}

/** A store with a host process of its own and one memory beneath its folder; closed when the test ends. */
export async function testStore(
  stateFolder?: string,
  options: Pick<StoreOptions, "maxLeakedBytes" | "embedHere"> = {},
): Promise<TestStore> {
  const folder = stateFolder ?? (await temporaryFolder());
  const notices: StoreNotice[] = [];
  const logged: TestStore["logged"] = [];
  const put =
    (level: keyof Log) =>
    (message: string, fields?: Readonly<Record<string, unknown>>): void =>
      void logged.push({ level, message, fields });
  const store = createStore({
    stateFolder: folder,
    clock: systemClock,
    log: { debug: put("debug"), info: put("info"), warn: put("warn"), error: put("error") },
    notice: (notice) => notices.push(notice),
    ...options,
  });
  onTestFinished(() => store[Symbol.asyncDispose]());
  return { stateFolder: folder, journal: new TestJournal(folder), store, notices, logged };
}

/** Returns how many events the memory contains. */
export async function eventsOf(store: Store, { memory }: TestJournal): Promise<number> {
  const { count } = await store.request("temporal.count", memory, { query: {}, nowMs: 0 });
  return count;
}

export function rebuiltOf(notices: readonly StoreNotice[]): { what: string; reason: string }[] {
  return notices.filter((notice) => notice.kind === "rebuilt").map(({ what, reason }) => ({ what, reason }));
}
