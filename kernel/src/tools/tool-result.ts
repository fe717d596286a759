import { LaresError } from "../base/errors.ts";

/** The answer of a tool, as received from the guest. */
export type GuestToolResult =
  | { readonly status: "success"; readonly value: unknown }
  | { readonly status: "error"; readonly message: string; readonly recoverable: boolean }
  | { readonly status: "needs_approval"; readonly action: string; readonly reason: string };

/** Throws AgentError if the answer is not a tool result. */
export function decodeResult(agent: string, name: string, answer: unknown): GuestToolResult {
  const record = (typeof answer === "object" && answer !== null ? answer : {}) as Record<string, unknown>;
  switch (record["status"]) {
    case "success":
      return { status: "success", value: record["value"] ?? null };
    case "error":
      return {
        status: "error",
        message: textOf(record["message"], "The tool failed."),
        recoverable: record["recoverable"] === true,
      };
    case "needs_approval": {
      const action = record["action"];
      const id = typeof action === "string" ? action : (action as { id?: unknown } | undefined)?.id;
      if (typeof id === "string") {
        return { status: "needs_approval", action: id, reason: textOf(record["reason"], "") };
      }
    }
  }
  throw new LaresError("AgentError", `${agent}/${name} did not answer with a tool result.`, {
    state: "Active",
    reason: "The answer has no known status.",
  });
}

function textOf(value: unknown, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}
