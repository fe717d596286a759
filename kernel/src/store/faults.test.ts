import process from "node:process";
import { expect, test } from "vitest";
import { seeded } from "../../../test/support/seed.ts";
import { until } from "../../../test/support/until.ts";
import { isLaresError, messageOf } from "../base/errors.ts";
import { TestJournal } from "./testing/test-journal.ts";
import { eventsOf, rebuiltOf, testStore } from "./testing/test-store.ts";

/** LARES_ROUNDS=3 runs sixty. */
const kills = 20 * Number(process.env["LARES_ROUNDS"] ?? 1);
const eventsPerRound = 200;
const random = seeded();

test("a host killed again and again at random under load: everything acknowledged is found", async () => {
  const { store, stateFolder, notices } = await testStore();
  const journals = [1, 2, 3].map((n) => new TestJournal(stateFolder, `extension/dev.lares.m${n}`));
  const ask = async (journal: TestJournal): Promise<void> => {
    const expected = journal.end.seq;
    for (;;) {
      try {
        expect(await eventsOf(store, journal)).toBe(expected);
        return;
      } catch (error) {
        // The memory was open when the host was killed twice.
        if (!isLaresError(error, "StorageError") || !messageOf(error).includes("ended twice")) throw error;
      }
    }
  };
  for (let round = 0; round < kills; round++) {
    const asked = journals.flatMap((journal) => {
      journal.appendEvents(eventsPerRound);
      store.grown(journal.memory);
      return [ask(journal), ask(journal)];
    });
    const pid = await until("a host", () => store.pid);
    const isAnswered = Promise.all(asked).then(() => true);
    await Promise.race([isAnswered, new Promise((resolve) => setTimeout(resolve, random() * 60))]);
    if (store.pid === pid) process.kill(pid, "SIGKILL");
    await isAnswered;
  }
  for (const journal of journals) expect(await eventsOf(store, journal)).toBe(kills * eventsPerRound);
  // No damage was found: the memory was being opened or created, or two hosts were killed during one request.
  for (const { reason } of rebuiltOf(notices))
    expect(reason).toMatch(/while it (opened|answered)|it was missing/);
});
