import { callOf, writtenNodes, type ExpressionNode } from "./expression.ts";
import { entryFields, entryMethods } from "./types.ts";

/** A piece of a filter's text and its replacement. */
export interface FilterEdit {
  readonly offset: number;
  readonly length: number;
  readonly newText: string;
}

export interface FilterFix {
  readonly title: string;
  readonly edits: readonly FilterEdit[];
}

interface OldSpelling {
  readonly offset: number;
  readonly length: number;
  readonly message: string;
  readonly fix: FilterFix;
}

/**
 * Finds the spellings that older documents used: `entry.is_image()`, `entry.extension()` and the other fields called as
 * methods, `ctx.in_granted_scope(path)`. Reports the first one; its fix corrects them all.
 */
export function findOldSpelling(source: string, root: ExpressionNode): OldSpelling | undefined {
  const found = writtenNodes(root)
    .flatMap((node) => spellingsAt(source, node))
    .toSorted((one, other) => one.offset - other.offset);
  const first = found[0];
  if (first === undefined) return undefined;
  const edits = found.map(({ offset, length, newText }) => ({ offset, length, newText }));
  return {
    offset: first.offset,
    length: first.length,
    message: `"${source.slice(first.offset, first.offset + first.length)}" is an older spelling; write "${first.newText}".`,
    fix: { title: found.length === 1 ? `Write "${first.newText}"` : "Rewrite all older spellings", edits },
  };
}

function spellingsAt(source: string, node: ExpressionNode): FilterEdit[] {
  const call = callOf(node);
  if (call?.receiver === undefined) return [];
  const { receiver, name } = call;
  // From the dot to the end, or to the opening parenthesis if the arguments stay unchanged.
  const nameStart = source.indexOf(name, receiver.end);
  if (nameStart < 0) return [];
  if (name === "in_granted_scope" && receiver.op === "id" && receiver.args === "ctx") {
    const end = nameStart + name.length;
    return [{ offset: receiver.start, length: end - receiver.start, newText: "inGrantedScope" }];
  }
  if (call.arguments.length > 0) return [];
  const method = Object.keys(entryMethods).find((known) => snakeCase(known) === name);
  if (method !== undefined) return [{ offset: nameStart, length: name.length, newText: method }];
  const isEntry = receiver.op === "id" && receiver.args === "entry";
  if (isEntry && Object.hasOwn(entryFields, name)) {
    return [{ offset: nameStart, length: node.end - nameStart, newText: name }];
  }
  return [];
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
