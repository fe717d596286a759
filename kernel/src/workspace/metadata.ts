import { limitExceeded, notFound } from "../base/errors.ts";
import { canonicalJson, type JsonValue } from "../base/json.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { EntryChange } from "../base/vocabulary/event.ts";
import type { MetadataChange } from "../base/vocabulary/metadata.ts";
import type { Database, Statement } from "../platform/database/database.ts";
import { sha256 } from "../platform/files/hash.ts";
import { keptMetadata } from "./awaited-metadata.ts";
import { entryOf } from "./entry.ts";
import { workspaceLimits } from "./limits.ts";
import type { MetadataAccess, WorkspacePorts } from "./ports.ts";
import { pathOf, type EntryNode, type EntryTree, type Metadata } from "./tree.ts";

export function metadataAccess(ports: {
  tree: EntryTree;
  database: Database;
  deliver: WorkspacePorts["deliver"];
  /** Called when changes of `restore` were stored. */
  awaiting(): void;
  lookAt(paths: readonly string[]): void;
}): MetadataAccess {
  const { tree, database } = ports;
  const entryAt = (path: string): EntryNode | null => {
    const node = tree.find(path);
    return node?.isEntry === true ? node : null;
  };
  const found = (path: string): EntryNode => {
    if (entryAt(path) === null) ports.lookAt([path]);
    const node = entryAt(path);
    if (node === null) throw notFound("entry", path);
    return node;
  };
  /**
   * The remaining work for changes whose statements were handed out; the entries of changes that are never stored are
   * collected as garbage.
   */
  const prepared = new WeakMap<MetadataChange, () => void>();
  const sidecarOf: MetadataAccess["sidecar"] = async (path, sidecar) => {
    const node = entryAt(path);
    if (node?.metadata.sidecars.has(sidecar) !== true) return null;
    const [row] = await database.query<{ data: string }>(
      "SELECT data FROM entry_sidecars WHERE entry = ? AND sidecar = ?",
      [node.id, sidecar],
    );
    return row === undefined ? null : { data: JSON.parse(row.data) as JsonValue };
  };
  return {
    current: (path) => {
      const node = entryAt(path);
      return node === null ? null : { tags: node.metadata.tags, fields: node.metadata.fields };
    },
    sidecar: sidecarOf,
    kept: async (path) => {
      const node = entryAt(path);
      return node === null ? [] : keptMetadata(path, node.metadata, (sidecar) => sidecarOf(path, sidecar));
    },
    restore: (changes) => {
      for (const change of changes) prepared.set(change, () => ports.awaiting());
      return [...Map.groupBy(changes, ({ path }) => path)].map(([path, itsOwn]) => ({
        sql: "INSERT OR REPLACE INTO awaited_metadata VALUES (?, ?)",
        params: [path, JSON.stringify(itsOwn)],
      }));
    },
    statements: (change) => {
      const node = found(change.path);
      const { statement, hash } = statementOf(node.id, change);
      const next = changed(node.metadata, change, hash);
      checkBounds(change.path, next);
      const event = eventOf(node, change, next);
      const delivery = event === null ? null : ports.deliver([event]);
      prepared.set(change, () => {
        // Applied to the current metadata, because another change may have been stored meanwhile.
        if (tree.byId(node.id) === node) tree.setMetadata(node, changed(node.metadata, change, hash));
        delivery?.committed();
      });
      return [statement, ...(delivery?.statements ?? [])];
    },
    applied: (change) => {
      prepared.get(change)?.();
      prepared.delete(change);
    },
  };
}

/** Returns the event of a change that adds or removes a tag; null for one without effect. */
function eventOf(node: EntryNode, change: MetadataChange, next: Metadata): EntryChange | null {
  if (change.kind !== "tag" || node.metadata.tags.includes(change.tag) === change.present) return null;
  const kind = change.present ? "tag_added" : "tag_removed";
  return { kind, entry: entryOf(node, pathOf(node), next), tag: change.tag, origin: "live" };
}

function statementOf(entry: string, change: MetadataChange): { statement: Statement; hash: Hash | null } {
  const plain = (sql: string, params: readonly string[]) => ({ statement: { sql, params }, hash: null });
  switch (change.kind) {
    case "tag":
      return change.present
        ? plain("INSERT INTO entry_tags VALUES (?, ?) ON CONFLICT DO NOTHING", [entry, change.tag])
        : plain("DELETE FROM entry_tags WHERE entry = ? AND tag = ?", [entry, change.tag]);
    case "field": {
      const place = [entry, change.namespace, change.key];
      if (change.value === undefined) {
        return plain("DELETE FROM entry_fields WHERE entry = ? AND namespace = ? AND key = ?", place);
      }
      const value = boundedJson("field", change.value, workspaceLimits.fieldBytes);
      const sql = `INSERT INTO entry_fields VALUES (?, ?, ?, ?)
        ON CONFLICT (entry, namespace, key) DO UPDATE SET value = excluded.value`;
      return plain(sql, [...place, value]);
    }
    case "sidecar": {
      const place = [entry, change.sidecar];
      if (change.data === undefined) {
        return plain("DELETE FROM entry_sidecars WHERE entry = ? AND sidecar = ?", place);
      }
      const data = boundedJson("sidecar", change.data, workspaceLimits.sidecarBytes);
      const hash = sha256(data);
      const sql = `INSERT INTO entry_sidecars VALUES (?, ?, ?, ?)
        ON CONFLICT (entry, sidecar) DO UPDATE SET hash = excluded.hash, data = excluded.data`;
      return { statement: { sql, params: [...place, hash, data] }, hash };
    }
  }
}

function boundedJson(what: "field" | "sidecar", value: JsonValue, maxBytes: number): string {
  const json = canonicalJson(value);
  const bytes = new TextEncoder().encode(json).length;
  if (bytes > maxBytes) {
    throw limitExceeded(
      `${what}Bytes`,
      bytes,
      `This ${what} has ${bytes} bytes; at most ${maxBytes} are allowed.`,
    );
  }
  return json;
}

function changed(before: Metadata, change: MetadataChange, sidecarHash: Hash | null): Metadata {
  switch (change.kind) {
    case "tag": {
      const others = before.tags.filter((tag) => tag !== change.tag);
      return { ...before, tags: change.present ? [...others, change.tag].toSorted() : others };
    }
    case "field":
      return { ...before, fields: fieldsWith(before.fields, change.namespace, change.key, change.value) };
    case "sidecar": {
      const sidecars = new Map(before.sidecars);
      if (sidecarHash === null) sidecars.delete(change.sidecar);
      else sidecars.set(change.sidecar, sidecarHash);
      return { ...before, sidecars };
    }
  }
}

/** Copies own keys only, so that "__proto__" is a key like any other. */
function fieldsWith(
  fields: Metadata["fields"],
  namespace: string,
  key: string,
  value: unknown,
): Metadata["fields"] {
  const held = Object.entries(fields[namespace] ?? {}).filter(([name]) => name !== key);
  if (value !== undefined) held.push([key, value]);
  const rest = Object.entries(fields).filter(([name]) => name !== namespace);
  if (held.length > 0) rest.push([namespace, Object.fromEntries(held)]);
  return Object.fromEntries(rest);
}

function checkBounds(path: string, { tags, fields, sidecars }: Metadata): void {
  const fieldCount = Object.values(fields).reduce((sum, namespace) => sum + Object.keys(namespace).length, 0);
  for (const [limit, value] of [
    ["tagsPerEntry", tags.length],
    ["fieldsPerEntry", fieldCount],
    ["sidecarsPerEntry", sidecars.size],
  ] as const) {
    if (value > workspaceLimits[limit]) {
      throw limitExceeded(
        limit,
        value,
        `"${path}" would have ${value} of these; at most ${workspaceLimits[limit]} are allowed (${limit}).`,
      );
    }
  }
}
