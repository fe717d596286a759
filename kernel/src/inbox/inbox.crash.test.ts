import { join } from "node:path";
import { expect, test } from "vitest";
import { silentLog } from "../base/log.ts";
import { systemClock } from "../platform/clock.ts";
import { openDatabase } from "../platform/database/database.ts";
import { failpointNames } from "../platform/failpoints.ts";
import { TestChild } from "../platform/testing/child.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { openInbox } from "./inbox.ts";
import { inboxMigrations } from "./migrations.ts";

const modules = {
  "{ openDatabase }": new URL("../platform/database/database.ts", import.meta.url),
  "{ systemClock }": new URL("../platform/clock.ts", import.meta.url),
  "{ silentLog }": new URL("../base/log.ts", import.meta.url),
  "{ openInbox }": new URL("./inbox.ts", import.meta.url),
  "{ inboxMigrations }": new URL("./migrations.ts", import.meta.url),
};

/** Enqueues and consumes concurrently, and prints what is certain about each item. */
const worker = (path: string, round: number): string => `
  const database = await openDatabase({ path: ${JSON.stringify(path)}, migrations: inboxMigrations, log: silentLog });
  const inbox = await openInbox({ database, clock: systemClock, log: silentLog });
  say("ready");
  const consume = async () => {
    let handled = [];
    for (;;) {
      const item = await inbox.next("a.b");
      if (item === null) { await new Promise((resolve) => setImmediate(resolve)); continue; }
      say("seen " + item.payload);
      if (item.seq % 50 === 0 && item.attempts === 0) { await inbox.retryLater("a.b", item.seq, 0); continue; }
      if (item.seq % 77 === 0) { await inbox.deadLetter("a.b", item.seq, "no"); say("done " + item.payload); continue; }
      inbox.acknowledge("a.b", item.seq);
      handled.push(item.payload);
      if (handled.length === 20) { await inbox.flush(); for (const one of handled) say("done " + one); handled = []; }
    }
  };
  const produce = async () => {
    for (let n = 0; ; n++) {
      const payload = "${round}-" + n;
      await inbox.enqueue([{ agent: "a.b", lane: "live", payload }]);
      say("stored " + payload);
      if (n % 16 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await Promise.all([consume(), produce()]);`;

class Ledger {
  readonly stored = new Set<string>();
  readonly done = new Set<string>();
  readonly seen = new Set<string>();

  add(lines: readonly string[]): void {
    // During one life a retry delivers an item twice; across lives a finished item must not be delivered again.
    const doneBefore = new Set(this.done);
    for (const line of lines) {
      const [what, item = ""] = line.split(" ");
      if (what === "stored") this.stored.add(item);
      if (what === "done") this.done.add(item);
      if (what !== "seen") continue;
      expect(doneBefore.has(item), `${item} came again although it was done with`).toBe(false);
      this.seen.add(item);
    }
  }
}

async function rest(path: string): Promise<string[]> {
  await using database = await openDatabase({ path, migrations: inboxMigrations, log: silentLog });
  await using inbox = await openInbox({ database, clock: systemClock, log: silentLog });
  const lines: string[] = [];
  for (let item = await inbox.next("a.b"); item !== null; item = await inbox.next("a.b")) {
    lines.push(`seen ${item.payload as string}`);
    inbox.acknowledge("a.b", item.seq);
  }
  return lines;
}

test("killed ten times by SIGKILL: every stored item is delivered, and no finished one again", async () => {
  const path = join(await temporaryFolder(), "ledger.sqlite");
  const ledger = new Ledger();
  for (let round = 0; round < 10; round++) {
    const child = new TestChild(worker(path, round), { modules });
    await child.waitForLines(50 + round * 60);
    await child.kill();
    ledger.add(child.lines);
  }
  ledger.add(await rest(path));
  expect([...ledger.stored].filter((item) => !ledger.seen.has(item))).toEqual([]);
  expect(ledger.done.size).toBeGreaterThan(100);
});

test.each(failpointNames.filter((name) => name.startsWith("inbox.")))(
  "dying at %s loses nothing and repeats no finished item",
  async (name) => {
    const path = join(await temporaryFolder(), "ledger.sqlite");
    const ledger = new Ledger();
    const child = new TestChild(worker(path, 0), { modules, failpoint: `${name}@2` });
    expect(await child.ended()).toBe("SIGKILL");
    ledger.add(child.lines);
    ledger.add(await rest(path));
    expect([...ledger.stored].filter((item) => !ledger.seen.has(item))).toEqual([]);
  },
);
