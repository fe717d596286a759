import type { ActionState } from "./action.ts";

/** The state of an action as shown to people, the same in lists, cards, errors, messages and `--state`. */
export const actionStateWords: Readonly<Record<ActionState, string>> = {
  PendingApproval: "waits for you",
  Approved: "being carried out",
  Committing: "being carried out",
  Committed: "done",
  Rejected: "rejected",
  Failed: "failed",
  Stale: "out of date",
  Expired: "expired",
  Undone: "undone",
};

/** Those that are verbs already. */
const verbs: ReadonlySet<ActionState> = new Set(["PendingApproval", "Failed", "Expired"]);

/** Returns the state as the end of a sentence: "is done", "waits for you". */
export function actionIs(state: ActionState): string {
  return verbs.has(state) ? actionStateWords[state] : `is ${actionStateWords[state]}`;
}
