import { isJsonObject } from "../base/json.ts";
import type { Entry } from "../base/vocabulary/conversation.ts";
import { textRemover } from "../base/without-texts.ts";
import type { Removal } from "../conversations/redactions.ts";
import { contextWithoutBlock, redacted, withoutTexts } from "./redaction.ts";

/** Removes what a block said: its texts, the calls that wrote them, and copies of them. */
export function removalOfBlock(name: string, said: readonly string[]): Removal {
  /** The entries of a log are looked at in their order. */
  const calls = new Set<string>();
  const remover = textRemover(said);
  return {
    entry: (entry) => {
      if (isEditCall(entry, name)) calls.add(entry.call);
      const isOf =
        (entry.kind === "block" && entry.name === name) ||
        isEditCall(entry, name) ||
        (entry.kind === "tool_result" && calls.has(entry.call));
      if (!isOf) return withoutTexts(entry, remover);
      const now = redacted(entry);
      return JSON.stringify(now) === JSON.stringify(entry) ? null : now;
    },
    context: (context) => contextWithoutBlock(context, name, said),
  };
}

function isEditCall(entry: Entry, name: string): entry is Extract<Entry, { kind: "tool_call" }> {
  return (
    entry.kind === "tool_call" &&
    entry.tool === "block_edit" &&
    isJsonObject(entry.arguments) &&
    entry.arguments["name"] === name
  );
}
