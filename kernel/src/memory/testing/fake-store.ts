import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { LaresError } from "../../base/errors.ts";
import { isJsonObject } from "../../base/json.ts";
import type { Redacted } from "../../memory-contract/records.ts";
import type {
  Store,
  StoreMemory,
  StoreRequestName,
  StoreRequests,
} from "../../memory-contract/store-port.ts";
import type { StoreSettings } from "../../memory-contract/store-settings.ts";

export const fakeSettings: StoreSettings = {
  vectors: "exact",
  embedder: { kind: "hash" },
  maxVectors: 1000,
};

type Answers = {
  [Name in StoreRequestName]?: (
    params: StoreRequests[Name]["params"],
    memory: StoreMemory,
  ) => StoreRequests[Name]["result"];
};

/** A store that reads the journal again for each request. `answers` handles the requests that it does not implement. */
export class FakeStore implements Store {
  readonly pid = null;
  readonly answers: Answers = {};
  /** Names of the requests, in order. */
  readonly asked: string[] = [];
  /** How often growth was reported, and the last reported seq. */
  readonly growth = { count: 0, seq: 0 };

  async request<Name extends StoreRequestName>(
    name: Name,
    memory: StoreMemory,
    params: StoreRequests[Name]["params"],
  ): Promise<StoreRequests[Name]["result"]> {
    this.asked.push(name);
    const answer = this.answers[name];
    if (answer !== undefined) return answer(params, memory);
    if (name === "project") return {};
    if (name === "knowledge.updates")
      return { changes: [], isMore: false, isWaiting: false } as StoreRequests[Name]["result"];
    if (name === "knowledge.nearest") {
      const { items } = params as StoreRequests["knowledge.nearest"]["params"];
      return { nearest: items.map(() => null) } as StoreRequests[Name]["result"];
    }
    if (name === "knowledge.existing") {
      const known = itemsIn(memory);
      const { ids } = params as StoreRequests["knowledge.existing"]["params"];
      return { ids: ids.filter((id) => known.has(id)) } as StoreRequests[Name]["result"];
    }
    throw new LaresError("StorageError", `The fake store does not answer ${name}.`);
  }

  grown({ end }: StoreMemory): void {
    this.growth.count += 1;
    this.growth.seq = end.seq;
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** Returns the ids of the items that a projection up to the memory's end would have. */
function itemsIn({ journalFolder, end }: StoreMemory): Set<string> {
  const items = new Map<string, number>();
  for (const line of linesOf(journalFolder)) {
    const record = JSON.parse(line) as {
      seq: number;
      kind: string;
      operation: string;
      id: string;
      data?: unknown;
    };
    if (record.seq > end.seq) break;
    if (record.operation === "redact") drop(items, record.data as Redacted);
    else if (record.kind !== "knowledge" || !isJsonObject(record.data)) continue;
    else if (record.operation === "store") items.set(record.id, record.seq);
    else if (record.operation === "delete") items.delete(record.id);
  }
  return new Set(items.keys());
}

function drop(items: Map<string, number>, { seqs }: Redacted): void {
  for (const [id, seq] of items) {
    if (seqs.some(([first, last]) => first <= seq && seq <= last)) items.delete(id);
  }
}

export function linesOf(journalFolder: string): string[] {
  return readdirSync(journalFolder)
    .filter((name) => name.endsWith(".ndjson"))
    .toSorted()
    .flatMap((name) => readFileSync(join(journalFolder, name), "utf8").split("\n"))
    .filter((line) => line !== "");
}
