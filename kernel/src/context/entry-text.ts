import { pictureText } from "../base/pictures.ts";
import { hasEnded, type ActionState } from "../base/vocabulary/action.ts";
import type { Entry, EntryOf } from "../base/vocabulary/conversation.ts";
import { bulletinBlock } from "../base/vocabulary/mind.ts";
import type { ToolResult } from "../base/vocabulary/tool-result.ts";
import { asData, quoted, quotedNames, withinBytes } from "./data-text.ts";
import { jsonText } from "./tokens.ts";

/** The result of a call that its process did not wait for; the words of `models/normalize.ts`. */
export const interruptedText = "Interrupted; whether it took effect is unknown.";

/** Line breaks that JSON leaves as they are. */
const bareLineBreaks = /[\u0085\u2028\u2029]/g;
/** One line that is neither a heading nor quoted data. */
const plainLine = /^(?![[|])[^\n\r\v\f\u001c-\u001e\u0085\u2028\u2029]*$/;

/**
 * Returns the result of a call as the model reads it: an agent's own text is quoted as data, and so is an error that is not
 * one plain line. The tools of processes, whose names have no slash, return as text only what a person has accepted; their
 * errors may repeat what anybody wrote.
 */
export function toldResult(tool: string, result: ToolResult): string {
  const text = resultText(result);
  const isText = result.status === "success" && typeof result.value === "string" && tool.includes("/");
  const isForeign = isText || (result.status === "error" && !plainLine.test(text));
  return isForeign ? asData(`${isText ? "result" : "error"} of ${quoted(tool)}`, text) : text;
}

/** Returns a tool's result as text, at most 64 KiB of it. */
export function resultText(result: ToolResult): string {
  switch (result.status) {
    case "success":
      return withinBytes(
        typeof result.value === "string"
          ? result.value
          : jsonText(result.value ?? null).replace(
              bareLineBreaks,
              (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
            ),
      );
    case "error":
      return withinBytes(
        result.recoverable && result.question === undefined
          ? `${result.message}\n(With other arguments, or later, it may succeed.)`
          : result.message,
      );
    case "needs_approval": {
      const { id, title } = result.action;
      return `Waits for the person: action ${quoted(id)}, ${quoted(title)}. You will be told what becomes of it.`;
    }
  }
}

/** Returns what else happened as quoted data; null for entries that are not shown to a model in this way. */
export function eventText(entry: Entry): string | null {
  switch (entry.kind) {
    case "conclusion":
      return asData(
        `conclusion of the process ${quoted(entry.process)}${sourcesOf(entry)}`,
        withinBytes(entry.text),
      );
    case "notice":
      return asData(`notice to the person${sourcesOf(entry)}`, withinBytes(entry.text));
    case "block":
      return asData(
        entry.name === bulletinBlock
          ? `the bulletin now reads${sourcesOf(entry)}`
          : `the block ${quoted(entry.name)} now reads${sourcesOf(entry)}`,
        withinBytes(entry.text),
      );
    case "action":
      return hasEnded(entry.state as ActionState)
        ? asData(`action ${quoted(entry.ref)}`, endText(entry))
        : null;
    case "ask":
      return entry.state === "Pending" ? null : asData(`question ${quoted(entry.ref)}`, endText(entry));
    case "message":
    case "request":
    case "tool_call":
    case "tool_result":
    case "summary":
    case "process":
    case "usage":
    case "pin":
    case "meta":
    case "redaction":
    case "void":
      return null;
  }
}

function endText({ state, origin }: EntryOf<"action"> | EntryOf<"ask">): string {
  return origin === "person" ? `${state}, by the person` : state;
}

/** Returns the words of a heading that name what a text was made from. */
export function sourcesOf({ sources = [] }: { readonly sources?: readonly string[] }): string {
  return sources.length === 0 ? "" : `; sources: ${quotedNames(sources)}`;
}

/** Returns the plain texts of an entry, as far as the model reads them. */
export function textOf(entry: Entry): string {
  switch (entry.kind) {
    case "message":
      return entry.parts
        .map((part) => {
          if (part.type === "text") return part.text;
          if (part.type === "file") return part.path;
          return part.type === "image" ? pictureText(part.media_type, part.bytes) : "";
        })
        .filter((text) => text !== "")
        .join("\n");
    case "tool_call":
      return `${entry.tool} ${jsonText(entry.arguments)}`;
    case "tool_result":
      return resultText(entry.result);
    case "conclusion":
    case "summary":
    case "notice":
    case "block":
      return entry.text;
    case "action":
    case "ask":
      return `${entry.ref} ${entry.state}`;
    case "request":
    case "process":
    case "usage":
    case "pin":
    case "meta":
    case "redaction":
    case "void":
      return "";
  }
}
