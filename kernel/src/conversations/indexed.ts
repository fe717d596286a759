import type { Entry } from "../base/vocabulary/conversation.ts";
import type { ConversationState } from "./fold.ts";
import { type NewEntry, searchedText } from "./records.ts";

/** A record as the index has it. */
export interface IndexedRecord {
  readonly seq: number;
  readonly kind: Entry["kind"] | "prefix";
  readonly id: string;
  readonly process: string;
  readonly audience: string;
  /** JSON. */
  readonly data: string;
  /** The text that searches match; empty if it is not searched. */
  readonly text: string;
  /** It takes the place of the record with this seq. */
  readonly isReplacing?: true;
}

/** A conversation's row in the list. */
export interface ConversationRow {
  readonly id: string;
  readonly agent: string;
  readonly forkedFrom: { readonly conversation: string; readonly seq: number } | null;
  readonly state: ConversationState;
}

export interface EntryQuery {
  /** Entries behind this seq, and not behind `through`. */
  readonly after?: number;
  readonly through?: number;
  readonly process?: string;
  readonly audience?: string;
  readonly kinds?: readonly string[];
  readonly limit: number;
  /** Takes the last ones within the limit, instead of the first; the answer is in order. */
  readonly newest?: boolean;
}

const busyStates = new Set(["Waiting", "Running", "WaitingForApproval"]);

/** Returns an entry as the index has it. */
export function indexedEntry(seq: number, entry: NewEntry, audience: string): IndexedRecord {
  const { kind, id, process } = entry;
  return { seq, kind, id, process, audience, data: JSON.stringify(entry), text: searchedText(entry) };
}

/** True while a process works or is about to read what is new, and the index may lag behind the log. */
export function isBusy({ state }: ConversationRow): boolean {
  return state.isUnread || state.processes.some((process) => busyStates.has(process.state));
}
