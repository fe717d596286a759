import type { Delta, Entry, Part, Process, ToolResult } from "../protocol.ts";
import {
  maxCallCharacters,
  maxEntryCharacters,
  maxParts,
  type ShownDelta,
  type ShownEntry,
  type ShownPart,
  type ShownProcess,
} from "../webviews/conversations/entries.ts";

/** Sources that are named with a text. */
const maxSources = 16;

/** Returns an entry as the page gets it; undefined for what the page does not draw. */
export function shownEntry(entry: Entry): ShownEntry | undefined {
  const cut = new Cut();
  const common = {
    seq: entry.seq,
    id: entry.id,
    process: entry.process,
    created: entry.created.slice(0, 40),
    origin: entry.origin.slice(0, 256),
    ...(entry.by === undefined ? {} : { by: entry.by.slice(0, 256) }),
    ...(entry.tainted === true
      ? { sources: (entry.sources ?? []).slice(0, maxSources).map((source) => source.slice(0, 512)) }
      : {}),
  };
  const shown = ((): object | undefined => {
    switch (entry.kind) {
      case "message":
        return {
          kind: "message",
          role: entry.role,
          parts: entry.parts.slice(0, maxParts).map((part) => shownPart(part, cut)),
          ...(entry.partial === true ? { partial: true } : {}),
          ...(entry.cut === undefined ? {} : { cut: entry.cut }),
        };
      case "tool_call":
        return {
          kind: "tool_call",
          call: entry.call,
          tool: entry.tool.slice(0, 256),
          main: mainOf(entry.arguments),
          arguments: cut.to(maxCallCharacters, argumentsText(entry.arguments)),
        };
      case "tool_result":
        return {
          kind: "tool_result",
          call: entry.call,
          status: isWaiting(entry.result) ? "needs_approval" : entry.result.status,
          text: cut.to(maxCallCharacters, resultText(entry.result)),
          ...(entry.result.status === "needs_approval" ? { action: entry.result.action.id } : {}),
        };
      case "conclusion":
      case "summary":
      case "notice":
        return {
          kind: entry.kind,
          text: cut.to(maxEntryCharacters, entry.text),
          ...(entry.covers === undefined ? {} : { covers: entry.covers }),
        };
      case "process":
        return { kind: "process", value: shownProcess(entry.value) };
      case "action":
      case "ask":
        return { kind: entry.kind, ref: entry.ref, state: entry.state.slice(0, 40) };
      case "block":
        return {
          kind: "block",
          name: entry.name.slice(0, 256),
          text: cut.to(maxEntryCharacters, entry.text),
        };
      case "pin":
        return { kind: "pin", entry: entry.entry, pinned: entry.pinned };
      case "meta":
        return {
          kind: "meta",
          ...(entry.title === undefined ? {} : { title: entry.title.slice(0, 256) }),
          ...(entry.model === undefined ? {} : { model: entry.model.slice(0, 322) }),
          ...(entry.state === undefined ? {} : { state: entry.state.slice(0, 40) }),
        };
      case "void":
        return { kind: "void", message: entry.message };
      case "redaction":
      case "request":
      case "usage":
        return undefined;
    }
  })();
  if (shown === undefined) return undefined;
  return { ...common, ...(cut.isCut ? { isCut: true } : {}), ...shown } as ShownEntry;
}

export function shownEntries(entries: readonly Entry[]): ShownEntry[] {
  return entries.flatMap((entry) => shownEntry(entry) ?? []);
}

/** Returns new entries as a page gets them, with those that a redaction puts in the place of entries that the page may have. */
export function shownNews(entries: readonly Entry[]): ShownEntry[] {
  return entries.flatMap((entry) =>
    entry.kind === "redaction"
      ? shownEntries(entry.entries as unknown as readonly Entry[]).map((each) => ({
          ...each,
          isRedacted: true as const,
        }))
      : (shownEntry(entry) ?? []),
  );
}

export function shownProcess(process: Process): ShownProcess {
  const { id, kind, name, state, parent, task, status, started, ended, error } = process;
  return {
    id,
    kind,
    state,
    started: started.slice(0, 40),
    ...(name === undefined ? {} : { name: name.slice(0, 128) }),
    ...(parent === undefined ? {} : { parent }),
    ...(task === undefined ? {} : { task: task.slice(0, 4_000) }),
    ...(status === undefined ? {} : { status: status.slice(0, 400) }),
    ...(ended === undefined ? {} : { ended: ended.slice(0, 40) }),
    ...(error === undefined
      ? {}
      : {
          error: {
            code: error.code.slice(0, 64),
            message: error.message.slice(0, 4_000),
            ...(error.class === undefined ? {} : { class: error.class.slice(0, 64) }),
          },
        }),
  };
}

/** Returns a delta in pieces that the page accepts. */
export function shownDeltas({ process, message, part, type, text }: Delta): ShownDelta[] {
  const deltas: ShownDelta[] = [];
  // A call's arguments are shown once they are complete.
  const whole = type === "tool_call" ? "" : text;
  for (let start = 0; start === 0 || start < whole.length; start += maxEntryCharacters)
    deltas.push({ process, message, part, type, text: whole.slice(start, start + maxEntryCharacters) });
  return deltas;
}

/** Returns all of an entry's text, for an editor. */
export function wholeText(entry: Entry): string {
  switch (entry.kind) {
    case "message":
      return entry.parts.flatMap((part) => ("text" in part ? [part.text] : [])).join("\n\n");
    case "tool_call":
      return argumentsText(entry.arguments);
    case "tool_result":
      return resultText(entry.result);
    case "conclusion":
    case "summary":
    case "notice":
    case "block":
      return entry.text;
    case "request":
    case "process":
    case "action":
    case "ask":
    case "usage":
    case "pin":
    case "meta":
    case "redaction":
    case "void":
      return "";
  }
}

/** Cuts texts, and knows whether one was cut. */
class Cut {
  isCut = false;

  to(max: number, text: string): string {
    if (text.length <= max) return text;
    this.isCut = true;
    return text.slice(0, max).toWellFormed();
  }
}

function shownPart(part: Part, cut: Cut): ShownPart {
  switch (part.type) {
    case "text":
    case "reasoning":
      return { type: part.type, text: cut.to(maxEntryCharacters, part.text) };
    case "image":
      return { type: "image", mediaType: part.media_type.slice(0, 128), bytes: part.bytes };
    case "file":
      return {
        type: "file",
        path: part.path.slice(0, 4_096),
        ...(part.range === undefined ? {} : { range: part.range }),
      };
  }
}

/** Names of arguments that say most about a call, the first that is there. */
const mainNames = ["path", "from", "task", "query", "text", "name", "url", "process", "glob"];

/** Returns the argument that says most: of a known name, or the first short text. */
export function mainOf(args: unknown): string {
  if (typeof args !== "object" || args === null) return typeof args === "string" ? args.slice(0, 400) : "";
  const values = args as Readonly<Record<string, unknown>>;
  const named = mainNames.find((name) => Object.hasOwn(values, name) && typeof values[name] === "string");
  const found =
    named === undefined
      ? Object.values(values).find((value) => typeof value === "string" && value.length <= 200)
      : values[named];
  return typeof found === "string" ? found.slice(0, 400) : "";
}

function argumentsText(args: unknown): string {
  return typeof args === "string" ? args : (JSON.stringify(args, null, 2) ?? "");
}

/** True for a call that was not run, because the person has not answered the question about it. */
function isWaiting(result: ToolResult): boolean {
  return result.status === "error" && result.question !== undefined;
}

function resultText(result: ToolResult): string {
  switch (result.status) {
    case "success":
      return typeof result.value === "string" ? result.value : (JSON.stringify(result.value, null, 2) ?? "");
    case "error":
      return result.message;
    case "needs_approval":
      return result.reason;
  }
}
