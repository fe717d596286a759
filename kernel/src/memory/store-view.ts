import type { Journal } from "../journal/journal.ts";
import type { RecordKind } from "../memory-contract/records.ts";
import type { Store, StoreMemory, StoreRequestName, StoreRequests } from "../memory-contract/store-port.ts";
import type { StoreSettings } from "../memory-contract/store-settings.ts";

/** Asks the store about one memory, as far as that is acknowledged now. */
export type AskStore = <Name extends StoreRequestName>(
  name: Name,
  params: StoreRequests[Name]["params"],
  signal?: AbortSignal,
) => Promise<StoreRequests[Name]["result"]>;

interface StoreViewOptions {
  readonly key: string;
  readonly folder: string;
  readonly journalFolder: string;
  settings(): StoreSettings;
}

/** A memory as the store is told of it: always as it is at the moment, without anything being made for each record. */
export function storeViewOf(journal: Journal<RecordKind>, options: StoreViewOptions): StoreMemory {
  const { key, folder, journalFolder } = options;
  return {
    key,
    folder,
    journalFolder,
    get end() {
      return journal.end;
    },
    get rewrites() {
      return journal.redactedRecords;
    },
    get settings() {
      return options.settings();
    },
  };
}

/** What is asked is asked of the memory as it is now, also where the answer is long in coming. */
export function askerOf(store: Store, view: StoreMemory): AskStore {
  return (name, params, signal) => store.request(name, { ...view }, params, signal);
}
