import { join } from "node:path";
import { actionsMigrations } from "../actions/ledger/migrations.ts";
import { agentStateMigrations } from "../agent-state/migrations.ts";
import { asksMigrations } from "../asks/migrations.ts";
import type { Log } from "../base/log.ts";
import { conversationMigrations } from "../conversations/migrations.ts";
import { decisionMigrations } from "../decisions/uses.ts";
import { inboxMigrations } from "../inbox/migrations.ts";
import { jobsMigrations } from "../jobs/migrations.ts";
import { memoryMigrations } from "../memory/records/heads.ts";
import { sharedDataMigrations } from "../memory/shared-data.ts";
import { notificationMigrations } from "../notifications/migrations.ts";
import { openDatabase, type Database, type Migration } from "../platform/database/database.ts";
import { sharedTypesMigrations } from "../shared-types/migrations.ts";
import { keyedCallMigrations } from "../tools/keyed-calls.ts";
import { workspaceMigrations } from "../workspace/migrations.ts";

/** The migrations of every room with tables in the ledger. All SQL of a table is in its room. */
export const ledgerMigrations: readonly Migration[] = [
  ...workspaceMigrations,
  ...inboxMigrations,
  ...jobsMigrations,
  ...actionsMigrations,
  ...memoryMigrations,
  ...sharedDataMigrations,
  ...agentStateMigrations,
  ...decisionMigrations,
  ...keyedCallMigrations,
  ...asksMigrations,
  ...conversationMigrations,
  ...sharedTypesMigrations,
  ...notificationMigrations,
];

/** Opens a workspace's `ledger.sqlite`: one file, so that several rooms can write in one transaction. */
export function openLedger(stateFolder: string, log: Log): Promise<Database> {
  return openDatabase({ path: join(stateFolder, "ledger.sqlite"), migrations: ledgerMigrations, log });
}
