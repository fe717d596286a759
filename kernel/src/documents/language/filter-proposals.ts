import type { CursorContext } from "./cursor.ts";
import { code, paragraph } from "./explanation.ts";
import type { EventLanguage, FilterWord } from "./ports.ts";
import { inSnippet, type Proposal } from "./proposal.ts";

/** Returns what may be written at the cursor in a filter for this event. */
export function filterProposals(
  context: CursorContext,
  eventName: string,
  events: EventLanguage,
  snippets: boolean,
): Proposal[] {
  const { spot, format } = context;
  const place = placeIn(spot.before);
  const start = spot.start + Math.max(0, spot.end - spot.start - spot.after.length - place.partial.length);
  const end = spot.end - spot.after.length + (/^\w*/.exec(spot.after)?.[0].length ?? 0);
  const common = { start, end };
  if (place.kind === "text") {
    const values = valuesBefore(place.expression, eventName, events);
    return values.map((value) => ({
      ...common,
      label: value,
      kind: "choice",
      newText: value,
      isSnippet: false,
      filterText: value,
      rank: 0,
    }));
  }
  const words =
    place.receiver === null ? events.filterWords(eventName) : events.filterMembers(place.receiver, eventName);
  // TOML has no unquoted strings.
  const isBare = format === "toml" && spot.quote === "";
  const lead = spot.needsSpace ? " " : "";
  return words.map((word) => {
    const call = callOf(word, snippets);
    return {
      ...common,
      label: word.name,
      kind: word.kind,
      detail: word.signature,
      explanation: [paragraph(word.description), ...valuesParagraph(word)],
      newText: isBare ? `${lead}"${call}${snippets ? "$0" : ""}"` : lead + call,
      isSnippet: snippets,
      filterText: word.name,
      rank: rankOf(word),
    };
  });
}

function valuesParagraph({ values }: FilterWord) {
  if (values === undefined) return [];
  return [paragraph("One of ", ...values.flatMap((value, index) => [index === 0 ? "" : ", ", code(value)]))];
}

function callOf({ name, kind, signature }: FilterWord, isSnippet: boolean): string {
  if (kind !== "function" && kind !== "method") return name;
  if (signature.startsWith(`${name}()`)) return `${name}()`;
  return isSnippet ? `${inSnippet(name)}($1)` : `${name}(`;
}

function rankOf({ kind, name }: FilterWord): number {
  if (name === "entry") return 0;
  if (kind === "field") return 1;
  return kind === "keyword" ? 4 : name.startsWith("is") || name === "inGrantedScope" ? 2 : 3;
}

type FilterPlace =
  /** The cursor is in a string: the text before its opening quote. */
  | { readonly kind: "text"; readonly partial: string; readonly expression: string }
  /** The cursor is at a word; `receiver` is the expression before its dot. */
  | { readonly kind: "word"; readonly partial: string; readonly receiver: string | null };

/** Classifies the end of an incomplete filter. */
export function placeIn(before: string): FilterPlace {
  const opening = openQuote(before);
  if (opening !== null)
    return { kind: "text", partial: before.slice(opening + 1), expression: before.slice(0, opening) };
  const partial = /(?<!\w)\d*([A-Za-z_]\w*)$/.exec(before)?.[1] ?? "";
  const rest = before.slice(0, before.length - partial.length);
  const dot = /\.\s*$/.exec(rest);
  return { kind: "word", partial, receiver: dot === null ? null : receiverOf(rest.slice(0, dot.index)) };
}

/** Returns the start of the string that is still open at the text's end, or null. */
function openQuote(text: string): number | null {
  let opening: number | null = null;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (opening === null) {
      if (character === '"' || character === "'") opening = at;
    } else if (character === "\\") at++;
    else if (character === text.charAt(opening)) opening = null;
  }
  return opening;
}

/** Returns the operand at the text's end: names, calls and indices joined by dots. */
function receiverOf(text: string): string {
  let at = text.length;
  let depth = 0;
  let quote = "";
  while (at > 0) {
    const character = text.charAt(at - 1);
    if (quote !== "") {
      if (character === quote && text.charAt(at - 2) !== "\\") quote = "";
    } else if (character === '"' || character === "'") quote = character;
    else if (character === ")" || character === "]") depth++;
    else if (character === "(" || character === "[") {
      if (depth === 0) break;
      depth--;
    } else if (depth === 0 && !/[\w.]/.test(character)) break;
    at--;
  }
  return text.slice(at);
}

/**
 * Returns the expression that a string is compared with: for `entry.media == "`, the media. A name is read from its first
 * character only: if each one could begin a match, a long name would take time quadratic in its length.
 */
function valuesBefore(expression: string, eventName: string, events: EventLanguage): readonly string[] {
  const compared =
    inOf(expression) ??
    /(?<![\w.])[\d.]*([A-Za-z_][\w.]*)\s*(?:==|!=)\s*$/.exec(expression)?.[1] ??
    /(?<![\w.])[\d.]*([A-Za-z_][\w.]*)\s+in\s+\[/.exec(
      expression.slice(expression.lastIndexOf("]") + 1),
    )?.[1];
  if (compared === undefined) return [];
  const dot = compared.lastIndexOf(".");
  const words =
    dot < 0 ? events.filterWords(eventName) : events.filterMembers(compared.slice(0, dot), eventName);
  return words.find(({ name }) => name === compared.slice(dot + 1))?.values ?? [];
}

/** Returns the list of `changed_fields.exists(f, f == "`. */
function inOf(expression: string): string | undefined {
  return /(?<![\w.])[\d.]*([A-Za-z_][\w.]*)\.(?:exists|all|exists_one|filter)\(\s*(\w+)\s*,\s*\2\s*(?:==|!=)\s*$/.exec(
    expression,
  )?.[1];
}
