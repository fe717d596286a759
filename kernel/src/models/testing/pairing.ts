import type { ModelRequest } from "../../base/vocabulary/model.ts";

/**
 * Checks the requirements of providers that their schemas do not express. Returns the faults; none for a valid
 * history.
 */
export function faultsOf(
  { messages, tools = [] }: ModelRequest,
  { alternates, declared }: { readonly alternates: boolean; readonly declared: boolean },
): readonly string[] {
  const faults: string[] = [];
  const seen = new Set<string>();
  let waiting: string[] = [];
  let turn: "user" | "assistant" | "tool" | null = null;
  for (const message of messages) {
    if (waiting.length > 0 && message.role !== "tool")
      faults.push(`calls without a result: ${waiting.join()}`);
    if (message.role === "system") {
      if (turn !== null && alternates) faults.push("a late system message");
      if (message.text.trim() === "") faults.push("an empty system message");
      continue;
    }
    if (message.role === "tool") {
      const answered = message.parts.map(({ call }) => call);
      if (answered.join() !== waiting.join())
        faults.push(`results ${answered.join()} for calls ${waiting.join()}`);
      waiting = [];
      turn = "tool";
      continue;
    }
    if (alternates && turn === message.role) faults.push(`two turns of ${message.role}`);
    if (alternates && turn === null && message.role === "assistant") faults.push("the assistant begins");
    turn = message.role;
    if (message.parts.length === 0) faults.push("an empty message");
    for (const part of message.parts) {
      if (part.type === "text" && part.text.trim() === "") faults.push("an empty text");
      if (part.type === "text" && !part.text.isWellFormed()) faults.push("half a character");
      if (part.type !== "tool_call") continue;
      if (!/^[A-Za-z0-9_-]{1,64}$/.test(part.call)) faults.push(`the id ${part.call}`);
      if (!/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(part.tool)) faults.push(`the tool ${part.tool}`);
      if (seen.has(part.call)) faults.push(`the id ${part.call} twice`);
      if (typeof part.arguments !== "object" || part.arguments === null || Array.isArray(part.arguments))
        faults.push("arguments that are not an object");
      seen.add(part.call);
      waiting.push(part.call);
    }
  }
  if (waiting.length > 0) faults.push("calls without a result at the end");
  if (turn === null) faults.push("no turn at all");
  if (alternates && turn === "assistant") faults.push("the assistant is last");
  if (declared && seen.size > 0 && tools.length === 0) faults.push("calls without a declared tool");
  return faults;
}
