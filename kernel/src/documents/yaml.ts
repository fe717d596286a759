import { isAlias, isMap, isScalar, isSeq, Lexer, parseDocument, type Node, type Scalar } from "yaml";
import {
  Complexity,
  documentLimits,
  forbiddenKeys,
  TooComplex,
  type Reading,
  type ReportFault,
  type SourceNode,
  type StringStyle,
} from "./source.ts";

/**
 * Reads YAML 1.2 by the core schema: keys are strings, tags and directives of other schemas are faults. Null where
 * the syntax is at fault, unless it `isLenient`: then whatever the parser made of the text is read, for an editor that
 * wants to know where in it the cursor stands.
 */
export function readYaml(text: string, report: ReportFault, isLenient = false): Reading | null {
  boundTokens(text);
  const document = parseDocument(text, {
    version: "1.2",
    schema: "core",
    prettyErrors: false,
    stringKeys: true,
    // The library's own search for duplicates takes time quadratic in the keys.
    uniqueKeys: false,
    logLevel: "error",
  });
  for (const error of [...document.errors, ...document.warnings]) {
    const several = error.code === "MULTIPLE_DOCS";
    const message = several
      ? "A file holds one document; remove the --- and what follows it."
      : sentence(error.message);
    report(several ? "multiple-documents" : "syntax", error.pos[0], error.pos[1], message);
  }
  if (document.errors.length > 0 && !isLenient) return null;
  const complexity = new Complexity();
  const anchors = new Map<string, Node>();

  const read = (node: Node | null, depth: number): Reading => {
    complexity.enter(depth);
    const [start, end] = node?.range ?? [0, 0];
    const place: SourceNode = { start, end, children: new Map() };
    if (node === null) return { value: null, root: place };
    if (isAlias(node)) {
      const target = anchors.get(node.source);
      if (target === undefined) {
        report("syntax", start, end, `There is no anchor "&${node.source}" before this alias.`);
        return { value: null, root: place };
      }
      // The value is the anchor's, the place is where it is used.
      return { value: read(target, depth + 1).value, root: place };
    }
    if ("anchor" in node && node.anchor !== undefined) anchors.set(node.anchor, node);
    if (isMap(node)) {
      const value: Record<string, unknown> = {};
      for (const pair of node.items) {
        const keyNode = pair.key as Node | null;
        if (isLenient && !isScalar(keyNode)) continue;
        const key = String(isScalar(keyNode) ? keyNode.value : keyNode);
        const [keyStart, keyEnd] = keyNode?.range ?? [start, end];
        const pairEnd = endOf(pair.value as Node | null) ?? keyEnd;
        if (forbiddenKeys.includes(key)) {
          report("forbidden-key", keyStart, keyEnd, `The key "${key}" is not allowed.`, pairEnd);
          continue;
        }
        if (Object.hasOwn(value, key)) {
          const message = `The key "${key}" stands twice in this map.`;
          report("duplicate-key", keyStart, keyEnd, message, pairEnd);
          continue;
        }
        const child = read(pair.value as Node | null, depth + 1);
        value[key] = child.value;
        if (child.root.end === 0) Object.assign(child.root, { start: keyStart, end: keyEnd });
        child.root.key = { start: keyStart, end: keyEnd };
        place.children.set(key, child.root);
      }
      return { value, root: place };
    }
    if (isSeq(node)) {
      const value = (node.items as (Node | null)[]).map((item, index) => {
        const child = read(item, depth + 1);
        place.children.set(String(index), child.root);
        return child.value;
      });
      return { value, root: place };
    }
    return { value: scalarValue(node, report, place), root: place };
  };
  return read(document.contents, 0);
}

/** Where a value is over, the white space behind a block left out. */
function endOf(node: Node | null): number | undefined {
  if (isMap(node)) return endOf((node.items.at(-1)?.value ?? null) as Node | null) ?? node.range?.[1];
  if (isSeq(node)) return endOf((node.items.at(-1) ?? null) as Node | null) ?? node.range?.[1];
  return node?.range?.[1];
}

function scalarValue(node: Scalar, report: ReportFault, place: SourceNode): unknown {
  const { value } = node;
  if (typeof value === "string") place.style = styles[node.type ?? "PLAIN"] ?? "other";
  if (
    typeof value === "number" &&
    (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)))
  ) {
    report(
      "unsupported-number",
      place.start,
      place.end,
      `The number ${node.source ?? String(value)} cannot be held exactly.`,
    );
  }
  return value;
}

const styles: Readonly<Record<string, StringStyle>> = {
  PLAIN: "plain",
  QUOTE_SINGLE: "literal",
  QUOTE_DOUBLE: "escaped",
  BLOCK_LITERAL: "plain",
  BLOCK_FOLDED: "plain",
};

/** The lexer is linear; what it refuses never reaches the parser, whose cost per token is far higher. */
function boundTokens(text: string): void {
  let tokens = 0;
  let flow = 0;
  for (const token of new Lexer().lex(text)) {
    if (++tokens > documentLimits.tokens)
      throw new TooComplex(`of more than ${documentLimits.tokens} tokens`);
    if (token === "[" || token === "{") flow++;
    else if (token === "]" || token === "}") flow--;
    if (flow > documentLimits.depth) throw new TooComplex(`more than ${documentLimits.depth} levels deep`);
  }
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
