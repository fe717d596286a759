import { isJsonObject } from "../../base/json.ts";
import {
  bothForeign,
  type Foreign,
  foreignFrom,
  isForeign,
  nothingForeign,
} from "../../base/vocabulary/foreign.ts";
import type { RecordKind } from "../../memory-contract/records.ts";

/** Marked records of one memory that are told apart. */
const maxMarked = 20_000;

/** What the records of a memory hold of texts that nobody vouches for. The marks stand in the records themselves. */
export class RecordMarks {
  /** By the records' ids; beyond `maxMarked`, all of it counts as marked. */
  readonly #items = new Map<string, Foreign>();
  #all = nothingForeign;
  #plan = nothingForeign;

  /** Takes the data of a record as it was read. */
  add(kind: RecordKind, id: string, data: unknown): void {
    const foreign = foreignOf(data);
    if (kind === "working") this.#plan = foreign;
    else if (isForeign(foreign)) {
      this.#all = bothForeign(this.#all, foreign);
      if (this.#items.size < maxMarked || this.#items.has(id))
        this.#items.set(id, bothForeign(this.#items.get(id) ?? nothingForeign, foreign));
    }
  }

  of(read: readonly string[] | "plan" | "all"): Foreign {
    if (read === "plan") return this.#plan;
    if (read === "all" || this.#items.size >= maxMarked) return this.#all;
    return read.reduce(
      (found, id) => bothForeign(found, this.#items.get(id) ?? nothingForeign),
      nothingForeign,
    );
  }

  /** The ids of the records with marks, by the marks that they share; "all" where they are too many. */
  shared(): { readonly items: readonly string[] | "all"; readonly foreign: Foreign }[] {
    if (this.#items.size >= maxMarked) return [{ items: "all", foreign: this.#all }];
    const groups = new Map<string, { readonly items: string[]; readonly foreign: Foreign }>();
    for (const [id, foreign] of this.#items) {
      const key = JSON.stringify(foreign);
      const group = groups.get(key) ?? { items: [], foreign };
      group.items.push(id);
      groups.set(key, group);
    }
    return [...groups.values()];
  }
}

/** Returns the marks of a record; what another program wrote there counts as a mark. */
function foreignOf(data: unknown): Foreign {
  const marks = isJsonObject(data) ? data["foreign"] : undefined;
  if (marks === undefined) return nothingForeign;
  if (!isJsonObject(marks)) return foreignFrom(["a shared memory"], "all");
  return Object.entries(marks).reduce<Foreign>(
    (found, [source, reach]) => bothForeign(found, foreignFrom([source], reach === "minds" ? reach : "all")),
    nothingForeign,
  );
}
