import { messageOf } from "../base/errors.ts";
import type { JsonValue } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import type { MetadataChange } from "../base/vocabulary/metadata.ts";
import type { Database, Statement } from "../platform/database/database.ts";
import type { MetadataAccess } from "./ports.ts";
import type { Metadata } from "./tree.ts";

/** Returns all metadata of an entry, as changes that attach it again. */
export async function keptMetadata(
  path: string,
  { tags, fields, sidecars }: Metadata,
  sidecarOf: (sidecar: string) => Promise<{ readonly data: JsonValue } | null>,
): Promise<MetadataChange[]> {
  const kept: MetadataChange[] = tags.map((tag) => ({ kind: "tag", path, tag, present: true }));
  for (const [namespace, values] of Object.entries(fields)) {
    for (const [key, value] of Object.entries(values))
      kept.push({ kind: "field", path, namespace, key, value: value as JsonValue });
  }
  for (const sidecar of sidecars.keys()) {
    const found = await sidecarOf(sidecar);
    if (found !== null) kept.push({ kind: "sidecar", path, sidecar, data: found.data });
  }
  return kept;
}

interface AwaitedMetadataPorts {
  readonly database: Database;
  readonly metadata: MetadataAccess;
  readonly log: Log;
}

/** Stores metadata for entries that are about to be restored, and attaches it once the index has them. */
export class AwaitedMetadata {
  readonly #ports: AwaitedMetadataPorts;
  /** True if the table may have rows, as it may at start. */
  #mayWait = true;

  constructor(ports: AwaitedMetadataPorts) {
    this.#ports = ports;
  }

  /** Called when rows were just stored. */
  expect(): void {
    this.#mayWait = true;
  }

  /** Attaches what it can. `isComplete`: the index is complete, so metadata whose entry is missing is dropped. */
  async attach(isComplete: boolean): Promise<void> {
    if (!this.#mayWait) return;
    this.#mayWait = false;
    const { database, metadata, log } = this.#ports;
    const rows = await database.query<{ path: string; changes: string }>("SELECT * FROM awaited_metadata");
    for (const { path, changes: text } of rows) {
      const forget: Statement = { sql: "DELETE FROM awaited_metadata WHERE path = ?", params: [path] };
      if (metadata.current(path) === null) {
        if (isComplete) await database.batch([forget]);
        else this.#mayWait = true;
        continue;
      }
      const changes = JSON.parse(text) as MetadataChange[];
      try {
        await database.batch([...changes.flatMap((change) => metadata.statements(change)), forget]);
        for (const change of changes) metadata.applied(change);
      } catch (error) {
        log.error("The metadata of a restored file could not be attached to it.", {
          path,
          error: messageOf(error),
        });
        this.#mayWait = true;
      }
    }
  }
}
