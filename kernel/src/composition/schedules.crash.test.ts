import { join } from "node:path";
import { expect, test } from "vitest";
import { agentStateMigrations } from "../agent-state/migrations.ts";
import { readSchedules } from "../agent-state/schedules.ts";
import type { DeliveryPayload } from "../agents/ports.ts";
import { silentLog } from "../base/log.ts";
import { inboxMigrations } from "../inbox/migrations.ts";
import { payloadsOf } from "../inbox/testing/payloads-of.ts";
import { openDatabase } from "../platform/database/database.ts";
import { failpointNames } from "../platform/failpoints.ts";
import { TestChild } from "../platform/testing/child.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";

const modules = {
  "{ ManualClock }": new URL("../base/testing/manual-clock.ts", import.meta.url),
  "{ ScheduleBed, scheduled }": new URL("./testing/schedule-bed.ts", import.meta.url),
};
const start = Date.parse("2026-11-20T12:00:00.000Z");
const runs = 12;

/** Fires every minute as a kernel does, until the time is over; begun in the middle of it, it catches up. */
const firing = (path: string, minutesGone: number): string => `
  const bed = await ScheduleBed.open(${JSON.stringify(path)}, new ManualClock(${start + minutesGone * 60_000}), true);
  await bed.run(scheduled("* * * * *", "all", bed.clock));
  say("seen");
  for (let run = ${minutesGone}; run < ${runs}; run++) {
    await bed.pass(60_000, 30_000);
    say("fired");
  }
  say("done");
  process.exit(0);`;

/** Everything that waits, in order: each run once. */
async function check(path: string): Promise<void> {
  const migrations = [...inboxMigrations, ...agentStateMigrations];
  await using database = await openDatabase({ path, migrations, log: silentLog });
  const fired = (await payloadsOf(database, "dev.test.agent")) as unknown as readonly DeliveryPayload[];
  const times = Array.from({ length: runs }, (_, n) => new Date(start + (n + 1) * 60_000).toISOString());
  expect(fired.map(({ event }) => event["scheduled_for"])).toEqual(times);
  expect(await readSchedules(database)).toMatchObject([{ firedThrough: start + runs * 60_000 }]);
}

async function fireRest(path: string, minutesGone: number): Promise<void> {
  const child = new TestChild(firing(path, minutesGone), { modules });
  await child.ended();
  expect(child.lines.at(-1)).toBe("done");
  await check(path);
}

const points = failpointNames.filter((name) => /^(?:inbox\.enqueue|database\.group)\./.test(name));
test.each(points.flatMap((point) => [2, 5, 9].map((pass) => [point, pass] as const)))(
  "dying at %s of transaction %i: no run is lost and none is delivered twice",
  async (point, pass) => {
    const path = join(await temporaryFolder(), "ledger.sqlite");
    const child = new TestChild(firing(path, 0), { modules, failpoint: `${point}@${pass}` });
    expect(await child.ended()).toBe("SIGKILL");
    await fireRest(path, pass % 2 === 0 ? 0 : runs);
  },
);

test("killed repeatedly by SIGKILL while it fires: no run is lost and none is delivered twice", async () => {
  const path = join(await temporaryFolder(), "ledger.sqlite");
  for (let life = 0; life < 6; life++) {
    const child = new TestChild(firing(path, life), { modules });
    await child.waitForLines(3);
    await child.kill();
  }
  await fireRest(path, runs - 1);
});
