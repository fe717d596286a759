import { isJsonObject } from "../base/json.ts";
import type { Entry } from "../base/vocabulary/conversation.ts";
import type { EntryReader } from "./ports.ts";

/** A memory as a process has read or written it. */
export interface RecalledHere {
  readonly id: string;
  readonly type: string;
  readonly text: string;
  /** What was searched for; absent for what the process saved itself. */
  readonly query?: string;
  /** The seq of the result. */
  readonly seq: number;
}

/** Calls and results of one process that are looked through, the last ones. */
const maxCalls = 2_000;

/** Returns the memories that a process has recalled or saved, as its calls' results say. What was redacted is left out. */
export async function recalledBy(
  reader: Pick<EntryReader, "entries">,
  log: string,
  process: string,
  through: number,
): Promise<RecalledHere[]> {
  const entries = await reader.entries(log, {
    process,
    kinds: ["tool_call", "tool_result"],
    through,
    limit: maxCalls,
    newest: true,
  });
  const calls = new Map<string, { readonly tool: string; readonly args: Record<string, unknown> }>();
  return entries.flatMap((entry) => {
    if (entry.kind === "tool_call")
      calls.set(entry.call, {
        tool: entry.tool,
        args: isJsonObject(entry.arguments) ? entry.arguments : {},
      });
    if (entry.kind !== "tool_result") return [];
    const call = calls.get(entry.call);
    if (call?.tool === "memory_recall") return listed(entry, call.args);
    return call?.tool === "memory_save" ? saved(entry, call.args) : [];
  });
}

function listed(
  { seq, result }: Entry & { kind: "tool_result" },
  { query }: Record<string, unknown>,
): RecalledHere[] {
  const items = result.status === "success" && Array.isArray(result.value) ? result.value : [];
  return items.flatMap((item: unknown) => {
    if (!isJsonObject(item)) return [];
    const { id, type, text } = item;
    if (typeof id !== "string" || typeof text !== "string") return [];
    return [
      {
        id,
        type: typeof type === "string" ? type : "",
        text,
        ...(typeof query === "string" ? { query } : {}),
        seq,
      },
    ];
  });
}

function saved(
  { seq, result }: Entry & { kind: "tool_result" },
  { type, text }: Record<string, unknown>,
): RecalledHere[] {
  if (result.status !== "success" || !isJsonObject(result.value)) return [];
  const id = result.value["memory"];
  if (typeof id !== "string" || typeof text !== "string") return [];
  return [{ id, type: typeof type === "string" ? type : "", text, seq }];
}
