import { join } from "node:path";
import { onTestFinished } from "vitest";
import { ManualClock } from "../../base/testing/manual-clock.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { ScheduleBed } from "./schedule-bed.ts";

/** The agent of `scheduled`, if a test gives it no other id. */
export const agent = "dev.test.agent";
export const minute = 60_000;
export const hour = 60 * minute;
export const day = 24 * hour;

/** Opens schedules on an empty ledger until the test ends. */
export async function bed(start = "2026-11-20T12:00:00.000Z"): Promise<ScheduleBed> {
  const path = join(await temporaryFolder(), "ledger.sqlite");
  const opened = await ScheduleBed.open(path, new ManualClock(start));
  onTestFinished(() => opened[Symbol.asyncDispose]());
  return opened;
}
