import type { Journal } from "../journal/journal.ts";
import type { RecordKind } from "../memory-contract/records.ts";
import type { Store, StoreMemory, StoreRequestName, StoreRequests } from "../memory-contract/store-port.ts";
import type { StoreSettings } from "../memory-contract/store-settings.ts";

/** Sends a request about one memory to the store, including everything acknowledged so far. */
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

/** Returns a view for the store that always shows the memory's current state, without work for each record. */
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

/** Each request is about the memory's state at that moment, even if the answer takes long. */
export function askerOf(store: Store, view: StoreMemory): AskStore {
  return (name, params, signal) => store.request(name, { ...view }, params, signal);
}
