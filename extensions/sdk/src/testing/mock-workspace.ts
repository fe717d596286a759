import { compileGlob } from "../../../../kernel/src/base/glob.ts";
import type { Thumbnail } from "../types/context.ts";
import type { Entry, EntryKind, EntryPage, EntryQuery } from "../types/entry.ts";

/** An entry of a mock workspace: its path, and whatever else matters to the test. */
export type MockEntry = Partial<Entry> & {
  readonly path: string;
  readonly content?: string | Uint8Array;
  /** What `ctx.vdfs.thumbnail` returns of it, whatever size was asked for; without it, the file is no picture. */
  readonly thumbnail?: Thumbnail;
  /** The sidecars' data by kind. */
  readonly sidecarData?: Readonly<Record<string, unknown>>;
};

interface Stored {
  entry: Entry;
  readonly bytes: Uint8Array;
  readonly thumbnail: Thumbnail | undefined;
  readonly sidecars: Map<string, unknown>;
}

const defaultPageSize = 100;

/** The files of a mock context: entries in memory, and the results of its effects. */
export class MockWorkspace {
  readonly #stored = new Map<string, Stored>();

  constructor(entries: readonly MockEntry[], now: string) {
    for (const given of entries) {
      const { content = "", sidecarData = {}, thumbnail, ...fields } = given;
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
      const name = given.path.slice(given.path.lastIndexOf("/") + 1);
      const dot = name.lastIndexOf(".");
      const entry: Entry = {
        id: `entry-${this.#stored.size + 1}`,
        name,
        kind: "file",
        media: "other",
        extension: dot > 0 ? name.slice(dot + 1).toLowerCase() : "",
        mime: "application/octet-stream",
        size: bytes.length,
        created: now,
        modified: now,
        content_id: null,
        tags: [],
        fields: {},
        sidecars: Object.keys(sidecarData),
        location: ".",
        ...fields,
      };
      this.#stored.set(entry.path, {
        entry,
        bytes,
        thumbnail,
        sidecars: new Map(Object.entries(sidecarData)),
      });
    }
  }

  query(query: EntryQuery, visible: (path: string, kind: EntryKind) => boolean): EntryPage {
    const { limit = defaultPageSize, cursor = "0" } = query;
    const all = this.all(query, visible);
    const end = Number(cursor) + limit;
    const items = all.slice(Number(cursor), end);
    return end < all.length ? { items, cursor: String(end) } : { items };
  }

  all(query: EntryQuery, visible: (path: string, kind: EntryKind) => boolean): Entry[] {
    const glob = query.path === undefined ? undefined : compileGlob(query.path);
    const text = query.text?.toLowerCase();
    return [...this.#stored.values()]
      .map(({ entry }) => entry)
      .filter(
        (entry) =>
          visible(entry.path, entry.kind) &&
          (glob === undefined || (glob.ok && glob.matches(entry.path))) &&
          (query.tag === undefined || entry.tags.includes(query.tag)) &&
          (query.kind === undefined || entry.kind === query.kind || entry.media === query.kind) &&
          (query.media === undefined || entry.media === query.media) &&
          (query.extension === undefined || entry.extension === query.extension) &&
          (text === undefined || entry.name.toLowerCase().includes(text)),
      )
      .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }

  get(ref: { readonly path?: string; readonly id?: string }): Entry | undefined {
    if (ref.path !== undefined) return this.#stored.get(ref.path)?.entry;
    return [...this.#stored.values()].find(({ entry }) => entry.id === ref.id)?.entry;
  }

  bytes(path: string): Uint8Array | undefined {
    return this.#stored.get(path)?.bytes;
  }

  thumbnail(path: string): Thumbnail | undefined {
    return this.#stored.get(path)?.thumbnail;
  }

  sidecar(path: string, kind: string): { data: unknown } | null {
    const sidecars = this.#stored.get(path)?.sidecars;
    return sidecars?.has(kind) === true ? { data: sidecars.get(kind) } : null;
  }

  tag(path: string, change: (tags: readonly string[]) => readonly string[]): void {
    this.#change(path, (entry) => ({ ...entry, tags: change(entry.tags) }));
  }

  setField(path: string, namespace: string, key: string, value: unknown): void {
    this.#change(path, (entry) => ({
      ...entry,
      fields: { ...entry.fields, [namespace]: { ...entry.fields[namespace], [key]: value } },
    }));
  }

  writeSidecar(path: string, kind: string, data: unknown): void {
    this.#stored.get(path)?.sidecars.set(kind, data);
    this.#change(path, (entry) => ({ ...entry, sidecars: [...new Set([...entry.sidecars, kind])] }));
  }

  #change(path: string, change: (entry: Entry) => Entry): void {
    const stored = this.#stored.get(path);
    if (stored !== undefined) stored.entry = change(stored.entry);
  }
}
