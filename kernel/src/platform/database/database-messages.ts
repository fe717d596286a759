import type { ErrorCode, ErrorFacts } from "../../base/errors.ts";
import type { Migration, SqlValue, Statement, StatementResult } from "./statements.ts";

/** The messages between `database.ts` and its worker thread. */
export interface DatabaseWorkerData {
  readonly path: string;
  readonly migrations: readonly Migration[];
  readonly sharedLock?: string;
}

export type DatabaseJob =
  | { readonly kind: "batch"; readonly statements: readonly Statement[]; readonly power: boolean }
  | { readonly kind: "query"; readonly sql: string; readonly params: readonly SqlValue[] };

/** A group runs in order, as one transaction. "close" ends the thread after all earlier requests. */
export type DatabaseRequest =
  { readonly kind: "group"; readonly jobs: readonly DatabaseJob[] } | { readonly kind: "close" };

/** An error in transit, because classes are lost between threads. */
export interface DatabaseFailure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly facts: ErrorFacts;
}

export type DatabaseOutcome =
  | { readonly kind: "batch"; readonly results: readonly StatementResult[] }
  | { readonly kind: "query"; readonly rows: readonly Record<string, SqlValue>[] }
  | { readonly kind: "failed"; readonly failure: DatabaseFailure };

export type DatabaseReply =
  | { readonly kind: "opened"; readonly checkedAfterCrash: boolean }
  | { readonly kind: "openFailed"; readonly failure: DatabaseFailure }
  | { readonly kind: "group"; readonly outcomes: readonly DatabaseOutcome[] };
