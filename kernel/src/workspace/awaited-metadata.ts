import { messageOf } from "../base/errors.ts";
import type { JsonValue } from "../base/json.ts";
import type { Log } from "../base/log.ts";
import type { MetadataChange } from "../base/vocabulary/metadata.ts";
import type { Database, Statement } from "../platform/database.ts";
import type { MetadataAccess } from "./metadata.ts";
import type { Metadata } from "./tree.ts";

/** All that is attached to an entry, as changes that attach it again. */
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

export interface AwaitedMetadataPorts {
  readonly database: Database;
  readonly metadata: MetadataAccess;
  readonly log: Log;
}

/** What is to be attached to entries that come back: written down until the index knows them, and attached then. */
export class AwaitedMetadata {
  readonly #ports: AwaitedMetadataPorts;
  /** Something may be written down; so it is at the start. */
  #mayWait = true;

  constructor(ports: AwaitedMetadataPorts) {
    this.#ports = ports;
  }

  /** Was just written down. */
  expect(): void {
    this.#mayWait = true;
  }

  /** Attaches what it can. `isComplete`: what has no entry now will have none; it is forgotten. */
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
        log.error("What was kept beside a file could not be brought back with it.", {
          path,
          error: messageOf(error),
        });
        this.#mayWait = true;
      }
    }
  }
}
