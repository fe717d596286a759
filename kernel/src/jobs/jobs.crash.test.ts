import { join } from "node:path";
import { expect, test } from "vitest";
import { silentLog } from "../base/log.ts";
import { systemClock } from "../platform/clock.ts";
import { openDatabase } from "../platform/database/database.ts";
import { failpointNames } from "../platform/failpoints.ts";
import { TestChild } from "../platform/testing/child.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { Jobs } from "./jobs.ts";
import { jobsMigrations } from "./migrations.ts";

const modules = {
  "{ openDatabase }": new URL("../platform/database/database.ts", import.meta.url),
  "{ systemClock }": new URL("../platform/clock.ts", import.meta.url),
  "{ silentLog }": new URL("../base/log.ts", import.meta.url),
  "{ Jobs }": new URL("./jobs.ts", import.meta.url),
  "{ jobsMigrations }": new URL("./migrations.ts", import.meta.url),
};

/** Dispatches and runs jobs concurrently, and prints what is certain about each. */
const worker = (path: string, round: number): string => `
  const database = await openDatabase({ path: ${JSON.stringify(path)}, migrations: jobsMigrations, log: silentLog });
  const jobs = await Jobs.open(database, systemClock);
  say("ready");
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  let worked = 0;
  const work = async () => {
    for (;;) {
      const job = await jobs.next("a.b", true);
      if (job === null) { await turn(); continue; }
      const known = await jobs.tasks.result(job.id, "part");
      say("seen " + job.input + " " + (job.checkpoint ?? 0) + " " + (known?.result ?? ""));
      worked++;
      if (known === null) {
        await jobs.tasks.store("a.b", job.id, "part", { result: "of-" + job.input, foreign: {} });
        say("part " + job.input);
      }
      if (worked % 5 === 0 && job.attempts === 0) { await jobs.retryLater("a.b", job.id, 0, false); continue; }
      const next = (job.checkpoint ?? 0) + 1;
      await jobs.checkpoint("a.b", job.id, next);
      say("saved " + job.input + " " + next);
      if (worked % 6 === 0) { await jobs.cancel("a.b", job.id); say("done " + job.input); continue; }
      if (worked % 7 === 0) await jobs.fail("a.b", job.id, "no");
      // A person lets it run again, so it has not ended.
      if (worked % 14 === 0) { await jobs.retry(job.id); continue; }
      if (worked % 7 === 0) { say("done " + job.input); continue; }
      await jobs.complete("a.b", job.id);
      say("done " + job.input);
    }
  };
  const dispatch = async () => {
    for (let n = 0; ; n++) {
      const input = "${round}-" + n;
      await jobs.dispatch("a.b", { name: "work", input, priority: ["low", "normal", "high"][n % 3], whenIdle: n % 2 === 0, key: input });
      say("stored " + input);
      if (n % 8 === 0) await turn();
    }
  };
  await Promise.all([work(), dispatch()]);`;

/** What is certain about the jobs, over all lives. */
class Account {
  readonly stored = new Set<string>();
  readonly done = new Set<string>();
  readonly seen = new Set<string>();
  readonly saved = new Map<string, number>();
  /** Jobs whose task has ended. */
  readonly parts = new Set<string>();

  add(lines: readonly string[]): void {
    for (const line of lines) {
      const [what, job = "", checkpoint = "0", part = ""] = line.split(" ");
      if (what === "stored") this.stored.add(job);
      if (what === "saved") this.saved.set(job, Number(checkpoint));
      if (what === "done") this.done.add(job);
      if (what === "part") this.parts.add(job);
      if (what !== "seen") continue;
      if (this.parts.has(job)) expect(part, `the result of the task of ${job}`).toBe(`of-${job}`);
      expect(this.done.has(job), `${job} came again although it had ended`).toBe(false);
      expect(Number(checkpoint), `what ${job} had saved`).toBeGreaterThanOrEqual(this.saved.get(job) ?? 0);
      this.seen.add(job);
    }
  }
}

async function rest(path: string): Promise<string[]> {
  await using database = await openDatabase({ path, migrations: jobsMigrations, log: silentLog });
  const jobs = await Jobs.open(database, systemClock);
  const lines: string[] = [];
  for (let job = await jobs.next("a.b", true); job !== null; job = await jobs.next("a.b", true)) {
    const known = await jobs.tasks.result(job.id, "part");
    lines.push(
      `seen ${job.input as string} ${(job.checkpoint ?? 0) as number} ${(known?.result ?? "") as string}`,
    );
    await jobs.complete("a.b", job.id);
  }
  return lines;
}

test("killed ten times by SIGKILL: every stored job runs, no ended one again, and none from before its last checkpoint", async () => {
  const path = join(await temporaryFolder(), "ledger.sqlite");
  const account = new Account();
  for (let round = 0; round < 10; round++) {
    const child = new TestChild(worker(path, round), { modules });
    await child.waitForLines(50 + round * 60);
    await child.kill();
    account.add(child.lines);
  }
  account.add(await rest(path));
  expect([...account.stored].filter((job) => !account.seen.has(job))).toEqual([]);
  expect(account.done.size).toBeGreaterThan(100);
});

test.each(failpointNames.filter((name) => name.startsWith("jobs.")))(
  "dying at %s loses no job and no checkpoint, and runs no ended job",
  async (name) => {
    const path = join(await temporaryFolder(), "ledger.sqlite");
    const account = new Account();
    const child = new TestChild(worker(path, 0), { modules, failpoint: `${name}@2` });
    expect(await child.ended()).toBe("SIGKILL");
    account.add(child.lines);
    account.add(await rest(path));
    expect([...account.stored].filter((job) => !account.seen.has(job))).toEqual([]);
  },
);
