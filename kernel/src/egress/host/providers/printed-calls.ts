import { unfenced } from "../../../models/unfenced.ts";

/** A longer text is not searched for calls. Characters. */
const maxPrinted = 256 * 1024;
const maxCalls = 64;

interface PrintedCall {
  readonly tool: string;
  readonly arguments: unknown;
}

/**
 * Returns the tool calls that a model printed as text instead of calling; null if the text is anything else. The whole
 * text must be calls of offered tools, because a model may also quote one.
 */
export function printedCalls(text: string, offered: ReadonlySet<string>): readonly PrintedCall[] | null {
  if (text.length > maxPrinted || offered.size === 0 || !/[{[]/.test(text)) return null;
  const values = valuesOf(unfenced(text, ["json", "tool_call", "tool_code"]));
  if (values === null || values.length === 0 || values.length > maxCalls) return null;
  const calls = values.map((value) => callOf(value, offered));
  return calls.every((call) => call !== null) ? calls : null;
}

/** Forms: a JSON object or array, in a code fence or not; objects one per line; objects in the tags of chat templates. */
function valuesOf(text: string): readonly unknown[] | null {
  const bare = text.replace(/^<\|python_tag\|>|^\[TOOL_CALLS\]/, "").trim();
  if (bare.startsWith("<tool_call>")) {
    const pieces = bare.split(/<tool_call>|<\/tool_call>/).map((piece) => piece.trim());
    return allParsed(pieces.filter((piece) => piece !== ""));
  }
  const whole = parsed(bare);
  if (whole !== undefined) return Array.isArray(whole) ? (whole as readonly unknown[]) : [whole];
  return allParsed(bare.split(/;?\n/).filter((line) => line.trim() !== ""));
}

function allParsed(pieces: readonly string[]): readonly unknown[] | null {
  if (pieces.length > maxCalls) return null;
  const values = pieces.map(parsed);
  return values.includes(undefined) ? null : values;
}

function parsed(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

function callOf(value: unknown, offered: ReadonlySet<string>): PrintedCall | null {
  if (typeof value !== "object" || value === null) return null;
  const fields = value as Readonly<Record<string, unknown>>;
  if (typeof fields["function"] === "object") return callOf(fields["function"], offered);
  const { name } = fields;
  if (typeof name !== "string" || !offered.has(name)) return null;
  const given = fields["arguments"] ?? fields["parameters"];
  const inner = typeof given === "string" ? parsed(given) : given;
  // An object with only a name may be an ordinary answer.
  if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return null;
  return { tool: name, arguments: inner };
}
