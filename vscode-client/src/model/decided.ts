import type { Action } from "../protocol.ts";
import { appliedOf } from "./effect-text.ts";

/** Returns the outcome of an action in a few words; "Waiting" while it waits. */
export function decidedWord(action: Action): string {
  switch (action.state) {
    case "PendingApproval":
      return "Waiting";
    case "Approved":
    case "Committing":
      return "Being applied";
    case "Committed":
      return [
        action.decided_by === "policy" ? "Applied automatically" : "Applied",
        ...(appliedOf(action) === undefined ? [] : [`(${appliedOf(action)})`]),
        ...(action.edited_by === "user" ? ["with your edits"] : []),
      ].join(" ");
    case "Rejected":
      return "Rejected";
    case "Failed":
      return "Failed";
    case "Stale":
      return action.superseded_by === undefined ? "Out of date" : "Replaced";
    case "Expired":
      return "Expired";
    case "Undone":
      return "Undone";
  }
}

/** Returns the time of the outcome, "10:58" in the local zone; empty while it waits. */
export function decidedAt({ state, ended, receipt, decided }: Action): string {
  const iso = ended ?? receipt?.finished ?? decided;
  const at = state === "PendingApproval" || iso === undefined ? null : new Date(iso);
  if (at === null || Number.isNaN(at.getTime())) return "";
  return `${String(at.getHours()).padStart(2, "0")}:${String(at.getMinutes()).padStart(2, "0")}`;
}

/** Returns `Applied 10:58`, for titles. */
export function decidedTitle(action: Action): string {
  return [decidedWord(action), decidedAt(action)].filter(Boolean).join(" ");
}
