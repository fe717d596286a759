import { watch } from "node:fs";
import { readFile, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { parse, stringify } from "yaml";
import { messageOf } from "../base/errors.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { DecisionStore } from "../decisions/store.ts";
import { writeFileAtomically } from "../platform/atomic-file.ts";
import { isMissing, maxDocumentBytes } from "./read-documents.ts";

/** The person's decisions in `decisions.yaml` of the state folder; an edit by hand counts when it is saved. */
export async function openDecisions(
  stateFolder: string,
  clock: Clock,
  log: Log,
): Promise<{ store: DecisionStore; close(): void }> {
  const file = join(stateFolder, "decisions.yaml");
  const store = new DecisionStore({
    clock,
    log,
    read: async () => {
      try {
        return await readFile(file, "utf8");
      } catch (error) {
        if (isMissing(error)) return null;
        throw error;
      }
    },
    write: (text) => writeFileAtomically(file, new TextEncoder().encode(text), { mode: 0o600 }),
    setAside: async () => {
      const name = `decisions.unreadable-${clock.now()}.yaml`;
      await rename(file, join(stateFolder, name));
      return name;
    },
    parse: (text) => {
      if (text.length > maxDocumentBytes * 16) throw new Error(`it has ${text.length} characters`);
      return parse(text, { maxAliasCount: 0 });
    },
    stringify: (value) => stringify(value, { lineWidth: 110, aliasDuplicateObjects: false }),
  });
  await store.load();
  const watcher = watch(dirname(file), (_kind, name) => {
    if (name !== "decisions.yaml") return;
    store
      .load()
      .catch((error: unknown) => log.error(`decisions.yaml could not be read: ${messageOf(error)}`));
  });
  watcher.on("error", (error) => log.warn(`decisions.yaml is not watched: ${messageOf(error)}`));
  return { store, close: () => watcher.close() };
}
