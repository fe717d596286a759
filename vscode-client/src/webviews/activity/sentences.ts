import { ago, count, counted } from "../shared/format.ts";
import { line } from "../shared/text.ts";
import type { ActionLine } from "./messages.ts";

export type Outcome = "applied" | "waiting" | "rejected" | "failed" | "undone";

/** What became of an action, as the charts tell them apart. */
export function outcomeOf(state: ActionLine["state"]): Outcome {
  switch (state) {
    case "PendingApproval":
    case "Approved":
    case "Committing":
      return "waiting";
    case "Committed":
      return "applied";
    case "Rejected":
    case "Expired":
      return "rejected";
    case "Failed":
    case "Stale":
      return "failed";
    case "Undone":
      return "undone";
  }
}

export const titleOf = ({ title }: ActionLine): string => line(title, 120);

/** What became of it, and when: "you approved it 2 minutes ago". */
export function fateOf(action: ActionLine, nowMs: number): string {
  const when = ago(action.decided ?? action.created, nowMs);
  const who = deciderOf(action);
  const what = whatOf(action);
  switch (action.state) {
    case "PendingApproval":
      return `waits for you since ${ago(action.created, nowMs)}`.replace("since just now", "now");
    case "Approved":
    case "Committing":
      return "is being applied";
    case "Committed":
      return who === undefined
        ? `${what ?? "it was"} applied, ${when}`
        : `${who} approved ${what ?? "it"}, ${when}`;
    case "Rejected":
      return who === undefined ? `it was rejected, ${when}` : `${who} rejected it, ${when}`;
    case "Expired":
      return `nobody answered, and it expired, ${when}`;
    case "Stale":
      return `its files changed meanwhile, so nothing was applied, ${when}`;
    case "Failed":
      return `it failed, and nothing was changed, ${when}`;
    case "Undone":
      return `it was undone; ${who ?? "somebody"} had approved ${what ?? "it"}, ${when}`;
  }
}

/** "3 of 5 changes", where not all of them happened. */
function whatOf({ applied, effects }: ActionLine): string | undefined {
  return applied === undefined ? undefined : `${count(applied)} of ${counted(effects, "change")}`;
}

function deciderOf({ decidedBy }: ActionLine): string | undefined {
  if (decidedBy === undefined) return undefined;
  return decidedBy === "user" ? "you" : "your rules";
}

/** All of it in one sentence, for a screen reader; `agent` is what the agent is called. */
export function sentenceOf(action: ActionLine, nowMs: number): string {
  return `${line(action.agent, 60)} proposed "${titleOf(action)}" (${counted(action.effects, "change")}): ${fateOf(action, nowMs)}.`;
}
