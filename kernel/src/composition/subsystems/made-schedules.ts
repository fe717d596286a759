import { madeScheduleRows } from "../../agent-state/made-schedules.ts";
import type { Asks } from "../../asks/asks.ts";
import { hookOfMade } from "../../configuration/made-hooks.ts";
import { MadeSchedules } from "../../minds/made-schedules.ts";
import { askAbout } from "../../minds/schedule-question.ts";
import type { Database } from "../../platform/database/database.ts";
import type { KernelContext } from "./kernel-context.ts";

/** Opens the schedules that minds made. None runs, and nobody is asked, before agents are known. */
export async function openMadeSchedules(
  { clock, log }: Pick<KernelContext, "clock" | "log">,
  { database, asks }: { readonly database: Database; readonly asks: Asks },
): Promise<MadeSchedules> {
  return await MadeSchedules.open({
    clock,
    log,
    rows: madeScheduleRows(database),
    hookOf: (schedule) => hookOfMade(schedule, clock),
    ask: askAbout(asks),
  });
}
