import { join } from "node:path";
import { actionsMigrations } from "../actions/ledger/migrations.ts";
import { actionTexts } from "../actions/ledger/redact-texts.ts";
import { agentStateMigrations, agentStateTexts } from "../agent-state/migrations.ts";
import { asksMigrations, askTexts } from "../asks/migrations.ts";
import type { Log } from "../base/log.ts";
import { conversationMigrations, conversationTexts } from "../conversations/migrations.ts";
import { decisionMigrations, decisionTexts } from "../decisions/uses.ts";
import { forgettingMigrations, forgettingTexts } from "../forgetting/migrations.ts";
import { inboxMigrations, inboxTexts } from "../inbox/migrations.ts";
import { jobsMigrations, jobTexts } from "../jobs/migrations.ts";
import { memoryMigrations, memoryTexts } from "../memory/records/heads.ts";
import { sharedDataMigrations, sharedDataTexts } from "../memory/shared-data.ts";
import { notificationMigrations, notificationTexts } from "../notifications/migrations.ts";
import { openDatabase, type Database, type Migration } from "../platform/database/database.ts";
import type { TextColumns } from "../platform/database/text-columns.ts";
import { sharedTypesMigrations, sharedTypesTexts } from "../shared-types/migrations.ts";
import { keyedCallMigrations, keyedCallTexts } from "../tools/keyed-calls.ts";
import { workspaceMigrations, workspaceTexts } from "../workspace/migrations.ts";

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
  ...forgettingMigrations,
];

/** What becomes of every text in the ledger when a person has it removed. `ledger.test.ts` compares it with the tables. */
export const ledgerTexts: readonly TextColumns[] = [
  ...workspaceTexts,
  ...inboxTexts,
  ...jobTexts,
  ...actionTexts,
  ...memoryTexts,
  ...sharedDataTexts,
  ...agentStateTexts,
  ...decisionTexts,
  ...keyedCallTexts,
  ...askTexts,
  ...conversationTexts,
  ...sharedTypesTexts,
  ...notificationTexts,
  ...forgettingTexts,
];

/** Opens a workspace's `ledger.sqlite`: one file, so that several rooms can write in one transaction. */
export function openLedger(stateFolder: string, log: Log): Promise<Database> {
  return openDatabase({ path: join(stateFolder, "ledger.sqlite"), migrations: ledgerMigrations, log });
}
