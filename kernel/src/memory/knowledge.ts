import type { Clock } from "../base/clock.ts";
import { invalidParams, isLaresError, messageOf, notFound } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import { nothingForeign } from "../base/vocabulary/foreign.ts";
import type { Log } from "../base/log.ts";
import { OneAtATime } from "../base/one-at-a-time.ts";
import type { Journal } from "../journal/journal.ts";
import type { RecordInput } from "../journal/record.ts";
import { AddBatch, type Added, type Addition } from "./add-batch.ts";
import { type JsonTexts, foreignTexts, placeTexts, relationsOf, textsOf } from "./knowledge-texts.ts";
import type { KnowledgeAddition, KnowledgeChange } from "../memory-contract/queries.ts";
import {
  type Nearest,
  type NewItem,
  type ProposedChange,
  type PrunePolicy,
  updatesSimilarity,
} from "../memory-contract/store-port.ts";
import type { AskStore } from "./store-view.ts";
import { maxIdLength, type RecordKind } from "../memory-contract/records.ts";
import { jsonOf } from "./temporal.ts";

/** The delay between an addition and the search for what it updates, so that following additions share it. */
const updatesDelayMs = 250;

/** Writes items of knowledge to the journal. One change at a time, so that each sees the result of the one before. */
export class KnowledgeMemory implements Disposable {
  readonly #journal: Journal<RecordKind>;
  readonly #ask: AskStore;
  readonly #log: Log;
  readonly #clock: Pick<Clock, "timer">;
  /** Additions wait as one batch, and other writes belong to open calls, which are limited. */
  readonly #turns = new OneAtATime();
  /** The batch whose turn has not come yet. */
  #gathering: AddBatch | null = null;
  /** The timer of the next search for updated items. */
  #timer: Disposable | null = null;
  #looking: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(journal: Journal<RecordKind>, ask: AskStore, log: Log, clock: Pick<Clock, "timer">) {
    this.#clock = clock;
    this.#journal = journal;
    this.#ask = ask;
    this.#log = log;
  }

  /** Runs `work` between changes of knowledge. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    // Later additions start a new batch, after `work`.
    this.#gathering = null;
    return this.#turns.run("knowledge", work);
  }

  /**
   * Adds an item and acknowledges it when the journal has it. Only an item with relations or an embedding waits for
   * the store, which checks them: items that are added at once are checked together, each as if those before it
   * were stored, and `updates` is the item that an embedding shows it to be a newer form of. For all others that is
   * searched afterwards and stored as a relation (`#lookForUpdates`). `foreign`, here and below: texts that nobody
   * vouches for and that whoever writes it has read.
   */
  async add(addition: KnowledgeAddition, foreign = nothingForeign): Promise<Added> {
    const { variant, embedding } = addition;
    const fields = { ...textsOf(addition), ...placeTexts(addition), ...foreignTexts(foreign) };
    const relations = relationsOf(addition.relations ?? []);
    if (relations.length === 0 && embedding === undefined) {
      const id = newId();
      await this.#write("store", id, fields);
      this.#lookForUpdates();
      return { id };
    }
    const item: NewItem = {
      id: newId(),
      variant,
      ...(embedding === undefined ? {} : { embedding: [...embedding] }),
    };
    const characters = Object.values(fields).reduce((sum, { length }) => sum + length, 0);
    const gathering = this.#gathering?.mayTake(characters) === true ? this.#gathering : this.#gather();
    return await gathering.take({ item, fields, relations }, characters);
  }

  /** Starts nothing more. Does not wait for the store: the next maintenance finds what is left. */
  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#timer?.[Symbol.dispose]();
  }

  /** Resolves when the search for what the added items update has ended, as far as the store can answer. */
  async looked(): Promise<void> {
    if (this.#timer !== null) this.#beginToLook();
    await this.#looking;
  }

  /**
   * Searches, after the additions are acknowledged, for what new items are newer forms of, and stores it as
   * relations; one search for all concurrent additions. If the kernel or the store ends first, the next maintenance
   * finds the rest.
   */
  #lookForUpdates(): void {
    if (!this.#isClosed) this.#timer ??= this.#clock.timer(updatesDelayMs, () => this.#beginToLook());
  }

  #beginToLook(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = null;
    this.#looking = this.#looking
      .then(() => this.#look())
      .catch((error: unknown) => {
        if (this.#isClosed) return;
        const reason = messageOf(error);
        this.#log.debug("Items were added without looking for what they update.", { reason });
      });
  }

  async #look(): Promise<void> {
    for (let isMore = true; isMore && !this.#isClosed;) {
      isMore = await this.inTurn(async () => {
        const found = await this.#ask("knowledge.updates", {});
        await Promise.all(found.changes.map((change) => this.#propose(change)));
        return found.isMore;
      });
    }
  }

  async update(change: KnowledgeChange, foreign = nothingForeign): Promise<void> {
    const fields = textsOf(change);
    if (Object.keys(fields).length === 0) {
      throw invalidParams("Nothing is to be changed: give a variant, data, text, embedding or importance.");
    }
    await this.inTurn(async () => {
      await this.#mustExist([change.id]);
      if (change.embedding !== undefined) await this.#mustFit(change.id, change.embedding);
      await this.#write("update", change.id, { ...fields, ...foreignTexts(foreign) });
    });
  }

  async remove(id: string): Promise<void> {
    await this.inTurn(async () => {
      await this.#mustExist([id]);
      await this.#write("delete", id, {});
    });
  }

  async relate(from: string, to: string, relation: string, foreign = nothingForeign): Promise<void> {
    const [relate] = relationsOf([{ to, relation }]);
    await this.inTurn(async () => {
      await this.#mustExist([from, to]);
      await this.#write("update", from, { relate: jsonOf(relate ?? null), ...foreignTexts(foreign) });
    });
  }

  /** Requests proposals for changes from the store, and writes them to the journal. */
  async maintain(
    nowMs: number,
    prune: PrunePolicy | null,
  ): Promise<{ readonly deleted: number; readonly related: number; readonly isUnfinished: boolean }> {
    return await this.inTurn(async () => {
      const { changes, isUnfinished } = await this.#ask("maintain", { nowMs, prune });
      let deleted = 0;
      // All are appended together, and none takes effect before it is written.
      await Promise.all(
        changes.map(async (change) => {
          await this.#propose(change);
          if (change.operation === "delete") deleted += 1;
        }),
      );
      return { deleted, related: changes.length - deleted, isUnfinished };
    });
  }

  async #propose(change: ProposedChange): Promise<void> {
    if (change.operation === "delete") return await this.#write("delete", change.id, {});
    const [relate] = relationsOf([change]);
    await this.#write("update", change.from, { relate: jsonOf(relate ?? null) });
  }

  async #write(operation: RecordInput["operation"], id: string, fields: JsonTexts): Promise<void> {
    // Sorted by name, as canonical JSON requires.
    const texts = Object.entries(fields).toSorted(([one], [other]) => (one < other ? -1 : 1));
    const data = `{${texts.map(([name, text]) => `"${name}":${text}`).join(",")}}`;
    await this.#journal.append([{ operation, kind: "knowledge", id, data }]);
  }

  /** Returns the current batch, whose turn comes after all earlier changes. */
  #gather(): AddBatch {
    const additions = new AddBatch();
    this.inTurn(async () => {
      if (this.#gathering === additions) this.#gathering = null;
      await this.#addAll(additions.all);
    }).catch((error: unknown) => additions.refuse(error));
    this.#gathering = additions;
    return additions;
  }

  async #addAll(additions: readonly Addition[]): Promise<void> {
    const known = await this.#existing(additions.flatMap(({ relations }) => relations.map(({ to }) => to)));
    const related = additions.filter(({ relations, reject }) => {
      const missing = relations.find(({ to }) => !known.has(to));
      if (missing !== undefined) reject(notFound("item", missing.to.slice(0, maxIdLength)));
      return missing === undefined;
    });
    const nearest = await this.#nearest(related.map(({ item }) => item));
    // Ids that were to be added here.
    const lost = new Set<string>();
    for (const [index, { item, fields, relations, resolve, reject }] of related.entries()) {
      const near = nearest[index] ?? null;
      const updates = near !== null && "id" in near && !lost.has(near.id) ? near.id : null;
      try {
        if (near !== null && "refused" in near) throw invalidParams(near.refused, near.facts);
        const isNews =
          updates !== null && !relations.some((each) => each.to === updates && each.relation === "Updates");
        const all = isNews ? [...relations, { to: updates, relation: "Updates" }] : relations;
        await this.#write("store", item.id, {
          ...fields,
          ...(all.length === 0
            ? {}
            : { relations: jsonOf(all.map(({ to, relation }) => ({ to, relation }))) }),
        });
        resolve(updates === null ? { id: item.id } : { id: item.id, updates });
        if (item.embedding === undefined) this.#lookForUpdates();
      } catch (error) {
        lost.add(item.id);
        reject(error);
      }
    }
  }

  async #mustExist(ids: readonly string[]): Promise<void> {
    const known = await this.#existing(ids);
    const missing = ids.find((id) => !known.has(id));
    if (missing !== undefined) throw notFound("item", missing.slice(0, maxIdLength));
  }

  async #existing(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const possible = new Set(ids.filter(({ length }) => length > 0 && length <= maxIdLength));
    return possible.size === 0
      ? possible
      : new Set((await this.#ask("knowledge.existing", { ids: [...possible] })).ids);
  }

  /** Finds out whether an item with an embedding repeats a known one. Without the store, the item is added anyway. */
  async #nearest(items: readonly NewItem[]): Promise<readonly Nearest[]> {
    if (!items.some(({ embedding }) => embedding !== undefined)) return [];
    try {
      return (await this.#ask("knowledge.nearest", { items, minSimilarity: updatesSimilarity })).nearest;
    } catch (error) {
      if (!isLaresError(error)) throw error;
      this.#log.debug("Knowledge was added without looking for what it updates.", { reason: error.message });
      return [];
    }
  }

  /** The store refuses an embedding that cannot be compared with the existing ones. */
  async #mustFit(id: string, embedding: readonly number[]): Promise<void> {
    const [near = null] = await this.#nearest([{ id, variant: "", embedding }]);
    if (near !== null && "refused" in near) throw invalidParams(near.refused, near.facts);
  }
}
