import { type FakeModel, lastText } from "./mind-bench.ts";

/** Returns a model that answers "go" by a branch, which recalls memories and then says what it found. */
export const recallingBranch =
  (query: string, found: string): FakeModel =>
  (question, { process }) => {
    if (process === "channel")
      return lastText(question) === "go"
        ? { call: [{ tool: "branch", arguments: { task: "recall" } }] }
        : { say: "ok" };
    return lastText(question) === "recall"
      ? { call: [{ tool: "memory_recall", arguments: { query } }] }
      : { say: found };
  };
