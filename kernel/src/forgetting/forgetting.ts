import { messageOf } from "../base/errors.ts";
import { newId } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import { isDistinctive } from "../base/without-texts.ts";
import { OneAtATime } from "../base/one-at-a-time.ts";
import type { ForgettingReport, Forgotten, RemainingText, TextPlace } from "../base/vocabulary/forgetting.ts";
import type { Database } from "../platform/database/database.ts";
import { failpoint } from "../platform/failpoint.ts";

/** A request as it is stored until it is done. `logs` is what the minds need to remove it from their logs again. */
interface ForgettingRequest {
  readonly forgotten: Forgotten;
  readonly logs: unknown;
}

interface ForgettingParts {
  /** Has `forgettingMigrations` applied. */
  readonly database: Database;
  readonly log: Log;
  /** In their order. */
  readonly places: readonly TextPlace[];
  /** Empties what a database has of deleted rows. Resolves when that is on the disk. */
  scrub(): Promise<void>;
  /** Searches the files of the state folder for copies that no place has named. */
  search(texts: readonly string[], known: readonly RemainingText[]): Promise<readonly RemainingText[]>;
}

const plainWord: RemainingText = {
  place: "places other than conversations",
  name: "not searched for a plain word or number",
  why: "It may also be a name or a value in data of agents, which would break. Redact it with the words beside it.",
};

/**
 * Removes texts for a person from every place that may have a copy. The request is on the disk before anything is removed,
 * and is deleted, with its texts, after the last place; so the next kernel completes it.
 */
export class Forgetting {
  readonly #parts: ForgettingParts;
  readonly #turns = new OneAtATime();

  constructor(parts: ForgettingParts) {
    this.#parts = parts;
  }

  /** `removeFromLogs` comes first: nothing is made from the logs again meanwhile. */
  async run<Result>(
    request: ForgettingRequest,
    removeFromLogs: () => Promise<Result>,
  ): Promise<{ readonly result: Result; readonly report: ForgettingReport }> {
    return await this.#turns.run("", async () => {
      const id = newId();
      await this.#parts.database.batch(
        [
          {
            sql: "INSERT INTO forgetting (id, request) VALUES (?, ?)",
            params: [id, JSON.stringify(request)],
          },
        ],
        { durability: "power" },
      );
      failpoint("forgetting.stored");
      return await this.#carryOut(id, request, removeFromLogs);
    });
  }

  /** Completes what earlier kernels had begun. What cannot be completed is logged, and tried again by the next kernel. */
  async resume(removeFromLogs: (logs: unknown) => Promise<unknown>): Promise<void> {
    const rows = await this.#parts.database.query<{ id: string; request: string | null }>(
      "SELECT id, request FROM forgetting ORDER BY id",
    );
    for (const { id, request } of rows)
      try {
        await this.#turns.run("", async () => {
          if (request === null) return await this.#done(id);
          const known = JSON.parse(request) as ForgettingRequest;
          await this.#carryOut(id, known, () => removeFromLogs(known.logs));
        });
      } catch (error) {
        this.#parts.log.error(
          `A text that a person had removed could not be removed from everywhere yet: ${messageOf(error)} The next start tries again.`,
        );
      }
  }

  async #carryOut<Result>(
    id: string,
    { forgotten }: ForgettingRequest,
    removeFromLogs: () => Promise<Result>,
  ): Promise<{ readonly result: Result; readonly report: ForgettingReport }> {
    const result = await removeFromLogs();
    failpoint("forgetting.logs");
    const texts = forgotten.texts.filter(isDistinctive);
    const elsewhere = { ...forgotten, texts };
    const removed: { place: string; count: number }[] = [];
    const remains: RemainingText[] = texts.length < forgotten.texts.length ? [plainWord] : [];
    /** The first place that could not be cleaned. The others do not wait for it. */
    let failure: Error | null = null;
    for (const place of this.#parts.places) {
      try {
        const cleaned = await place.redact(elsewhere);
        if (cleaned.removed > 0) removed.push({ place: place.name, count: cleaned.removed });
        remains.push(...cleaned.remains);
      } catch (error) {
        failure ??= error instanceof Error ? error : new Error(messageOf(error));
      }
      failpoint("forgetting.place");
    }
    if (failure !== null) {
      await this.#parts.scrub();
      throw failure;
    }
    await this.#parts.database.batch(
      [{ sql: "UPDATE forgetting SET request = NULL WHERE id = ?", params: [id] }],
      { durability: "power" },
    );
    failpoint("forgetting.done");
    await this.#done(id);
    const others = await this.#parts.search(texts, remains);
    return { result, report: { removed, remains: [...remains, ...others] } };
  }

  async #done(id: string): Promise<void> {
    await this.#parts.scrub();
    failpoint("forgetting.scrubbed");
    await this.#parts.database.batch([{ sql: "DELETE FROM forgetting WHERE id = ?", params: [id] }]);
  }
}
