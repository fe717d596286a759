import { isJsonObject } from "../base/json.ts";

/** Requests that read, or do the same once however often they are sent: they may be sent again to another kernel. */
const replayable: ReadonlySet<string> = new Set([
  "lares/status",
  "lares/agents/list",
  "lares/traces/query",
  "lares/traces/follow",
  "lares/traces/unfollow",
  "lares/actions/list",
  "lares/actions/get",
  "lares/actions/content",
  "lares/actions/diff",
  "lares/decisions/list",
  "lares/tools/list",
  "lares/jobs/list",
  "lares/notifications/list",
  // Seen is seen, and a button that is pressed twice proposes once.
  "lares/notifications/dismiss",
  "lares/notifications/act",
  "lares/entries/query",
  "lares/memory/query",
  "lares/memory/count",
  "lares/memory/verify",
  "lares/memory/stats",
  "lares/memory/namespaces",
  "lares/conversations/list",
  "lares/conversations/get",
  "lares/conversations/follow",
  "lares/conversations/unfollow",
  "lares/conversations/entries",
  "lares/conversations/verify",
  "lares/conversations/search",
  "lares/conversations/context",
]);

export function isReplayable(method: string, params: unknown): boolean {
  return (
    replayable.has(method) ||
    // The same key answers the same entry.
    (method === "lares/conversations/send" && isJsonObject(params) && typeof params["key"] === "string") ||
    /^(textDocument|codeLens|codeAction|completionItem|workspace)\/(?!executeCommand)/.test(method)
  );
}

/** Returns the error text for a request that may or may not have taken effect. */
export function outcomeUnknown(method: string): string {
  const where = method.startsWith("lares/actions/")
    ? "lares/actions/get"
    : method === "lares/tools/call"
      ? "lares/traces/query"
      : method.startsWith("lares/agents/")
        ? "lares/agents/list"
        : method.startsWith("lares/jobs/")
          ? "lares/jobs/list"
          : method.startsWith("lares/decisions/")
            ? "lares/decisions/list"
            : method.startsWith("lares/conversations/")
              ? "lares/conversations/entries"
              : "lares/status";
  return `The kernel ended while ${method} ran, and the next one is starting. Call ${where} to see whether it took effect.`;
}
