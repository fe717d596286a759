import { join } from "node:path";
import { dayCountStatements, readDayCounts } from "../../agent-state/event-counts.ts";
import { DayCounts } from "../../agents/day-counts.ts";
import type { Configuration } from "../../documents/configuration.ts";
import { usableLeakRules } from "../../documents/leak-rules.ts";
import { openInbox, type Inbox } from "../../inbox/inbox.ts";
import { Jobs } from "../../jobs/jobs.ts";
import type { Database } from "../../platform/database/database.ts";
import { openTraceLog, type TraceLog } from "../../trace/trace-log.ts";
import type { KernelContext } from "./kernel-context.ts";
import { redactSecrets } from "../../secret-scan/redact.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** Opens the traces with the settings in force now. */
export async function openTraces(
  { stateFolder, clock, log, opened }: KernelContext,
  manager: { readonly configuration: Configuration },
): Promise<TraceLog> {
  return opened.use(
    await openTraceLog({
      folder: join(stateFolder, "traces"),
      clock,
      log,
      keepDays: Math.max(1, Math.ceil(manager.configuration.trace.keepMs / dayMs)),
      redact: (text) => redactSecrets(text, usableLeakRules(manager.configuration.egress)),
    }),
  );
}

/** Deliveries that wait for agents, and counts of those answered. */
export interface AgentQueues {
  readonly inbox: Inbox;
  readonly jobs: Jobs;
  readonly dayCounts: DayCounts;
}

/** Opens the agents' inbox and jobs. Day counts are stored with the deliveries that they count. */
export async function openQueues(
  { clock, log, opened }: KernelContext,
  database: Database,
): Promise<AgentQueues> {
  const dayCounts = new DayCounts(clock, await readDayCounts(database));
  const inbox = opened.use(
    await openInbox({ database, clock, log, alongside: () => dayCounts.unsaved(dayCountStatements) }),
  );
  return { inbox, dayCounts, jobs: await Jobs.open(database, clock) };
}
