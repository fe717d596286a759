import { join } from "node:path";
import { expect, test } from "vitest";
import { silentLog } from "../base/log.ts";
import { systemClock } from "../platform/clock.ts";
import { openDatabase } from "../platform/database/database.ts";
import { TestChild } from "../platform/testing/child.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { notificationMigrations } from "./migrations.ts";
import { NotificationRows } from "./notification-rows.ts";
import { Notifications } from "./notifications.ts";

const modules = {
  "{ openDatabase }": new URL("../platform/database/database.ts", import.meta.url),
  "{ systemClock }": new URL("../platform/clock.ts", import.meta.url),
  "{ silentLog }": new URL("../base/log.ts", import.meta.url),
  "{ Notifications }": new URL("./notifications.ts", import.meta.url),
  "{ NotificationRows }": new URL("./notification-rows.ts", import.meta.url),
  "{ notificationMigrations }": new URL("./migrations.ts", import.meta.url),
};

/** Two agents say the same again and again, which is stored or counted as held back, and print what was acknowledged. */
const talkers = (path: string): string => `
  const database = await openDatabase({ path: ${JSON.stringify(path)}, migrations: notificationMigrations, log: silentLog });
  const notifications = new Notifications({
    clock: systemClock, log: silentLog, rows: new NotificationRows(database), heldBack: () => undefined,
  });
  const talk = async (agent) => {
    for (;;) {
      await notifications.add({ agent, title: "t", message: "m", severity: "info" });
      say("acknowledged " + agent);
    }
  };
  await Promise.all([talk("a.a"), talk("a.b")]);`;

test("no notification that was acknowledged is lost over ten kills by SIGKILL", async () => {
  const path = join(await temporaryFolder(), "ledger.sqlite");
  const acknowledged = new Map<string, number>();
  for (let round = 0; round < 10; round++) {
    const child = new TestChild(talkers(path), { modules });
    await child.waitForLines(10 + round * 20);
    await child.kill();
    for (const line of child.lines) acknowledged.set(line, (acknowledged.get(line) ?? 0) + 1);
    await using database = await openDatabase({ path, migrations: notificationMigrations, log: silentLog });
    using notifications = new Notifications({
      clock: systemClock,
      log: silentLog,
      rows: new NotificationRows(database),
      heldBack: () => undefined,
    });
    const { items } = await notifications.list();
    for (const agent of ["a.a", "a.b"]) {
      const kept = items
        .filter((item) => item.agent === agent)
        .reduce((sum, { count, held_back }) => sum + (held_back ?? count), 0);
      const told = acknowledged.get(`acknowledged ${agent}`) ?? 0;
      expect(kept).toBeGreaterThanOrEqual(told);
      // At most one in each round was stored and not acknowledged.
      expect(kept).toBeLessThanOrEqual(told + round + 1);
    }
  }
});
