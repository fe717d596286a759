import type { ExpressionNode } from "./expression.ts";
import { writtenNodes } from "./expression.ts";
import type { FilterEdit, FilterFix } from "./spellings.ts";
import { commonFields, entryFields, entryMethods, eventType } from "./types.ts";

/** A mistake of people who know another language, and what CEL has instead. */
export interface Slip {
  readonly offset: number;
  readonly length: number;
  readonly message: string;
  readonly fix?: FilterFix;
}

/**
 * Operators of CEL made of these characters, and those of other languages. `not` has no fix, because YAML gives a
 * leading `!` another meaning.
 */
const operators: Readonly<Record<string, { readonly right: string; readonly message: string; fix?: false }>> =
  {
    "=": { right: "==", message: 'A filter compares with "==".' },
    "===": { right: "==", message: 'A filter compares with "==".' },
    "!==": { right: "!=", message: 'A filter compares with "!=".' },
    and: { right: "&&", message: 'A filter says "and" with "&&".' },
    or: { right: "||", message: 'A filter says "or" with "||".' },
    not: {
      right: "!",
      message: 'A filter says "not" with "!", as in entry.size > 0 && !entry.isText().',
      fix: false,
    },
  };

/** Whole strings; names with the dots before them; runs of comparison characters. Each matches in linear time. */
const tokens =
  /r?"""[^]*?(?:"""|$)|r?'''[^]*?(?:'''|$)|r?"(?:\\[^]|[^"\\])*\\?(?:"|$)|r?'(?:\\[^]|[^'\\])*\\?(?:'|$)|(?:\.\s*)?[A-Za-z_]\w*|[=!<>]+/gu;

/** For a filter that cannot be parsed: detects a pattern over paths, as in `read_entries` and in rules. */
export function slipOfPattern(source: string): Slip | undefined {
  const extension = /^\s*(?:\*\*\/)?\*\.(\w{1,32})\s*$/.exec(source)?.[1];
  if (extension === undefined) return undefined;
  const message = `A hook's filter is an expression and no pattern; write entry.extension == "${extension}".`;
  return { offset: 0, length: source.length, message };
}

/** For a filter that cannot be parsed: returns the first operator of another language; its fix corrects them all. */
export function slipOfOperators(source: string): Slip | undefined {
  const found = [...source.matchAll(tokens)].flatMap(({ 0: text, index: offset }) => {
    const known = Object.hasOwn(operators, text) ? operators[text] : undefined;
    return known === undefined ? [] : [{ text, offset, ...known }];
  });
  const [first] = found;
  if (first === undefined) return undefined;
  const { offset, text, right, message } = first;
  const slip = { offset, length: text.length, message };
  if (found.some(({ fix }) => fix === false)) return slip;
  const edits = found.map((each): FilterEdit => ({
    offset: each.offset,
    length: each.text.length,
    newText: each.right,
  }));
  const title = edits.length === 1 ? `Write "${right}"` : "Write the operators as a filter has them";
  return { ...slip, fix: { title, edits } };
}

/** For a name that the event does not have: detects an entry's field without the entry, or a text without quotes. */
export function slipOfName(
  { offset, length }: { readonly offset: number; readonly length: number },
  { source, eventName, root }: { source: string; eventName: string; root: ExpressionNode | undefined },
): Slip | undefined {
  const name = source.slice(offset, offset + length);
  const fields = { ...eventType(eventName)?.fields, ...commonFields };
  if (fields["entry"] !== undefined && Object.hasOwn(entryFields, name)) {
    const right = `entry.${name}`;
    return {
      offset,
      length,
      message: `${eventName} has no field "${name}"; did you mean "${right}"?`,
      fix: { title: `Write "${right}"`, edits: [{ offset, length, newText: right }] },
    };
  }
  if (root === undefined || !isCompared(offset, root)) return undefined;
  return {
    offset,
    length,
    message: `${eventName} has no field "${name}". A text is written in quotes: "${name}".`,
  };
}

/** Returns true if the name stands alone on the right of a comparison, where texts stand. */
function isCompared(offset: number, root: ExpressionNode): boolean {
  return writtenNodes(root).some(({ op, args }) => {
    if (op !== "==" && op !== "!=") return false;
    const [, right] = args as readonly ExpressionNode[];
    return right?.op === "id" && right.start === offset;
  });
}

/** For a method of an entry: detects missing parentheses, or a missing entry. */
export function slipOfMethod(
  { offset, length }: { readonly offset: number; readonly length: number },
  { source, eventName }: { source: string; eventName: string },
  hasReceiver: boolean,
): Slip | undefined {
  const name = source.slice(offset, offset + length);
  if (!Object.hasOwn(entryMethods, name)) return undefined;
  if (!hasReceiver && eventType(eventName)?.fields["entry"] === undefined) return undefined;
  const right = hasReceiver ? `${name}()` : `entry.${name}`;
  const shown = `entry.${name}()`;
  return {
    offset,
    length,
    message: `"${name}" is asked of an entry; write "${shown}".`,
    fix: { title: `Write "${shown}"`, edits: [{ offset, length, newText: right }] },
  };
}
