import { join } from "node:path";
import { expect, test } from "vitest";
import { agentStateMigrations } from "../agent-state/migrations.ts";
import { readShown } from "../agent-state/shown-locations.ts";
import { entriesPerPiece } from "../agents/delivery/initial-sync.ts";
import { silentLog } from "../base/log.ts";
import { inboxMigrations } from "../inbox/migrations.ts";
import { payloadsOf } from "../inbox/testing/payloads-of.ts";
import { openDatabase } from "../platform/database/database.ts";
import { TestChild } from "../platform/testing/child.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";

const modules = {
  "{ openDatabase }": new URL("../platform/database/database.ts", import.meta.url),
  "{ systemClock }": new URL("../platform/clock.ts", import.meta.url),
  "{ silentLog }": new URL("../base/log.ts", import.meta.url),
  "{ openInbox }": new URL("../inbox/inbox.ts", import.meta.url),
  "{ inboxMigrations }": new URL("../inbox/migrations.ts", import.meta.url),
  "{ agentStateMigrations }": new URL("../agent-state/migrations.ts", import.meta.url),
  "{ InitialSyncs }": new URL("../agents/delivery/initial-sync.ts", import.meta.url),
  "{ readShown, sightStatements }": new URL("../agent-state/shown-locations.ts", import.meta.url),
  "{ agentWith, entryAt, lineOf, sightRouting }": new URL("../agents/testing/sight-test.ts", import.meta.url),
};
const count = 3 * entriesPerPiece + 7;

/** Shows an agent an index, as a kernel does, and says when it has. */
const shower = (path: string): string => `
  const database = await openDatabase({ path: ${JSON.stringify(path)}, migrations: [...inboxMigrations, ...agentStateMigrations], log: silentLog });
  const inbox = await openInbox({ database, clock: systemClock, log: silentLog });
  const entries = Array.from({ length: ${count} }, (_, n) => entryAt("notes/" + n + ".md"));
  const sights = new InitialSyncs({
    statements: sightStatements,
    ...(await readShown(database)),
    allEntries: () => entries.values(),
    store: async (deliveries, more) => {
      const prepared = inbox.prepare(deliveries.map((one) => ({ agent: one.agent, lane: one.lane, payload: lineOf(one) })));
      await database.batch([...prepared.statements, ...more]);
      prepared.committed();
      say("stored");
    },
    routing: sightRouting,
  });
  await sights.show("dev.test.agent", () => agentWith(["notes"]), 1, "new");
  say("shown");
  process.exit(0);`;

/** Everything that waits for the agent, in order; nothing is left of what was announced by the way. */
async function check(path: string): Promise<void> {
  await using database = await openDatabase({
    path,
    migrations: [...inboxMigrations, ...agentStateMigrations],
    log: silentLog,
  });
  expect(await payloadsOf(database, "dev.test.agent")).toEqual([
    ...Array.from({ length: count }, (_, n) => `notes/${n}.md`),
    `IndexComplete notes ${count}`,
  ]);
  expect(await readShown(database)).toEqual({
    alreadyShown: [{ agent: "dev.test.agent", location: "notes" }],
    alreadyAnnounced: [],
  });
}

async function showWhole(path: string): Promise<void> {
  const child = new TestChild(shower(path), { modules });
  await child.ended();
  expect(child.lines.at(-1)).toBe("shown");
  await check(path);
}

const points = ["inbox.enqueue.begun", "inbox.enqueue.committed"] as const;
test.each(points.flatMap((point) => [1, 2, 4, 5].map((piece) => [point, piece] as const)))(
  "dying at %s of transaction %i: the next kernel continues from there, and everything is delivered once",
  async (point, piece) => {
    const path = join(await temporaryFolder(), "ledger.sqlite");
    const child = new TestChild(shower(path), { modules, failpoint: `${point}@${piece}` });
    expect(await child.ended()).toBe("SIGKILL");
    await showWhole(path);
  },
);

test("killed by SIGKILL after each transaction in turn: everything is delivered once", async () => {
  const path = join(await temporaryFolder(), "ledger.sqlite");
  for (let life = 0; life < 3; life++) {
    const child = new TestChild(shower(path), { modules });
    await child.waitForLines(1);
    await child.kill();
  }
  await showWhole(path);
});
