import { type JsonObject, canonicalJson } from "../base/json.ts";
import { OneAtATime } from "../base/one-at-a-time.ts";
import type { RecordKind } from "../memory-contract/records.ts";
import type { Journal } from "../journal/journal.ts";

const recordId = "policy";

/** The policy of a memory, recorded in the journal so that it travels with the memory. */
export interface MemoryPolicy extends JsonObject {
  readonly retention_days?: number;
  readonly prune?: { readonly below_importance: number; readonly older_than_days: number };
  readonly max_storage_mb?: number;
  readonly max_vectors?: number;
  readonly sharing?: JsonObject;
}

/** The policy as the journal last recorded it. */
export class PolicyRecords {
  readonly #journal: Journal<RecordKind>;
  /** Asked once for each change of a policy. */
  readonly #turns = new OneAtATime();
  #text: string | null;

  /** `text` is the canonical JSON of the newest record; null if there is none. */
  constructor(journal: Journal<RecordKind>, text: string | null) {
    this.#journal = journal;
    this.#text = text;
  }

  read(): MemoryPolicy | null {
    return this.#text === null ? null : (JSON.parse(this.#text) as MemoryPolicy);
  }

  /** Records the policy if it differs from the last one. Resolves to true if it did. */
  record(policy: MemoryPolicy): Promise<boolean> {
    const text = canonicalJson(policy);
    return this.#turns.run("policy", async () => {
      if (text === this.#text) return false;
      const operation = this.#text === null ? "store" : "update";
      await this.#journal.append([{ operation, kind: "policy", id: recordId, data: text }]);
      this.#text = text;
      return true;
    });
  }
}
