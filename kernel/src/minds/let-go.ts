import { canonicalJson, isJsonObject } from "../base/json.ts";
import type { Ask } from "../base/vocabulary/ask.ts";
import type { Entry } from "../base/vocabulary/conversation.ts";
import type { ToolResult } from "../base/vocabulary/tool-result.ts";
import { quoted } from "../context/data-text.ts";
import type { LoggedCall } from "./answer-writer.ts";

/** The origin of the kernel's message that tells a channel what a person decided about a call that it did not wait for. */
export const decisionOrigin = "decision";

/** A channel does not wait any longer for the answer to a question. */
export class LetGo extends Error {}

/**
 * Returns the result of a call that was not run, because a question about it still waits: not a success, since the tool has
 * returned nothing, and not `needs_approval`, since there is no action.
 */
export function letGoResult(question: string): ToolResult {
  const message =
    "This call was not run: it still waits for the person's decision. You will be told the decision; if it is allowed, make the same call again then. Do not repeat it before.";
  return { status: "error", message, recoverable: true, question };
}

/** Returns the question that a result of a call says it did not wait for; null for any other result. */
export function questionIn(entry: Entry): string | null {
  // Only the kernel writes results as the workspace's that no tool of an agent made, and extensions name themselves.
  if (entry.kind !== "tool_result" || entry.origin !== "workspace" || entry.by !== undefined) return null;
  const { result } = entry;
  if (result.status === "error") return result.question ?? null;
  // Earlier versions wrote it as a value.
  const value = result.status === "success" ? result.value : null;
  if (!isJsonObject(value) || value["state"] !== "Pending") return null;
  const { question, note } = value;
  return typeof question === "string" && typeof note === "string" ? question : null;
}

/** Returns what a channel is told about the question. */
export function toldDecision({ state, title }: Pick<Ask, "state" | "title">): string {
  const what = quoted(title);
  if (state === "Allowed")
    return `The person allowed it: ${what}. Make the same call again if it is still needed.`;
  return state === "Denied"
    ? `The person did not allow it: ${what}. Do not make the call again.`
    : `Nobody has answered in time: ${what}. The call was not run.`;
}

/**
 * Returns the call as which a call asks the person: an earlier one with the same arguments that did not wait for the
 * answer, so that the answer counts for this one. Once one was run, its answer is used up.
 */
export function askedAs(call: LoggedCall, process: string, entries: readonly Entry[]): string {
  const wanted = canonicalJson([call.tool, call.arguments]);
  const results = new Map<string, Entry>();
  let first = call.call;
  for (const entry of entries.toReversed()) {
    if (entry.process !== process) continue;
    if (entry.kind === "tool_result") results.set(entry.call, entry);
    if (entry.kind !== "tool_call" || entry.call === call.call) continue;
    if (canonicalJson([entry.tool, entry.arguments]) !== wanted) continue;
    const result = results.get(entry.call);
    if (result === undefined || questionIn(result) === null) return first;
    first = entry.call;
  }
  return first;
}
