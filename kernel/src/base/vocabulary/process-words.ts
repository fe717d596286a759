import type { ProcessState } from "./conversation.ts";

/** What a process of a mind does, as the end of a sentence for people: "worker is done". */
export const processIs: Readonly<Record<ProcessState, string>> = {
  Waiting: "waits for its turn",
  Running: "works",
  WaitingForInput: "waits for input",
  WaitingForApproval: "waits for you",
  Done: "is done",
  Failed: "failed",
  Cancelled: "was stopped",
};
