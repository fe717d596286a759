import { isAlias, isMap, isScalar, isSeq } from "yaml";
import type { Alias, Node, Scalar } from "yaml";
import {
  Complexity,
  forbiddenKeys,
  type Reading,
  type ReportFault,
  type SourceNode,
  type StringStyle,
} from "./source.ts";
import type { Steps } from "./turns.ts";
import { yamlNodes } from "./yaml-nodes.ts";

/**
 * Reads YAML 1.2 with the core schema: keys are strings; tags and directives of other schemas are errors. Returns
 * null if there is a syntax error, unless `isLenient`: an editor then gets whatever the parser produced, to locate
 * the cursor in it.
 */
export function* readYaml(text: string, report: ReportFault, isLenient = false): Steps<Reading | null> {
  const { contents, faults } = yield* yamlNodes(text);
  for (const { code, start, end, message } of faults) if (!report(code, start, end, message)) break;
  if (!isLenient && faults.some(({ isWarning }) => !isWarning)) return null;
  const reader = new NodeReader(report, isLenient);
  return reader.read(contents, 0);
}

class NodeReader {
  readonly #report: ReportFault;
  readonly #isLenient: boolean;
  readonly #complexity = new Complexity();
  readonly #anchors = new Map<string, Node>();
  /** Nodes that are being read: an alias to one of them would be recursive. */
  readonly #open = new Set<Node>();

  constructor(report: ReportFault, isLenient: boolean) {
    this.#report = report;
    this.#isLenient = isLenient;
  }

  read(node: Node | null, depth: number): Reading {
    this.#complexity.enter(depth);
    const [start, end] = node?.range ?? [0, 0];
    const place: SourceNode = { start, end, children: new Map() };
    if (node === null) return { value: null, root: place };
    // The value is the anchor's; the place is the alias's.
    if (isAlias(node)) return { value: this.#target(node, place, depth), root: place };
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    this.#open.add(node);
    const value = this.#value(node, place, depth);
    this.#open.delete(node);
    return { value, root: place };
  }

  #target({ source }: Alias, { start, end }: SourceNode, depth: number): unknown {
    const target = this.#anchors.get(source);
    if (target === undefined)
      this.#report("syntax", start, end, `There is no anchor "&${source}" before this alias.`);
    else if (this.#open.has(target))
      this.#report("syntax", start, end, `The alias "*${source}" is a part of what it stands for.`);
    else return this.read(target, depth + 1).value;
    return null;
  }

  #value(node: Exclude<Node, Alias>, place: SourceNode, depth: number): unknown {
    if (isMap(node)) return this.#map(node.items as Pair[], place, depth);
    if (isScalar(node)) return this.#scalar(node, place);
    if (!isSeq(node)) return null;
    return (node.items as (Node | null)[]).map((item, index) => {
      const child = this.read(item, depth + 1);
      place.children.set(String(index), child.root);
      return child.value;
    });
  }

  #map(pairs: readonly Pair[], place: SourceNode, depth: number): Record<string, unknown> {
    const value: Record<string, unknown> = {};
    for (const { key: keyNode, value: valueNode } of pairs) {
      const [keyStart, keyEnd] = keyNode?.range ?? [place.start, place.end];
      const key = this.#key(keyNode);
      if (key === null) {
        if (!this.#isLenient) this.#report("syntax", keyStart, keyEnd, "A key has to be text.");
        continue;
      }
      const pairEnd = endOf(valueNode) ?? keyEnd;
      if (forbiddenKeys.includes(key)) {
        this.#report("forbidden-key", keyStart, keyEnd, `The key "${key}" is not allowed.`, pairEnd);
        continue;
      }
      if (Object.hasOwn(value, key)) {
        const message = `The key "${key}" stands twice in this map.`;
        this.#report("duplicate-key", keyStart, keyEnd, message, pairEnd);
        continue;
      }
      const child = this.read(valueNode, depth + 1);
      value[key] = child.value;
      if (child.root.end === 0) Object.assign(child.root, { start: keyStart, end: keyEnd });
      child.root.key = { start: keyStart, end: keyEnd };
      place.children.set(key, child.root);
    }
    return value;
  }

  /** Returns the text of a key as written, even if it looks like a number; null if it is not a scalar. */
  #key(node: Node | null): string | null {
    if (node === null) return "";
    const target = isAlias(node) ? this.#anchors.get(node.source) : node;
    if (!isScalar(target)) return null;
    if (target === node && node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    return typeof target.value === "string" ? target.value : (target.source ?? "");
  }

  #scalar(node: Scalar, place: SourceNode): unknown {
    const { value, source = "" } = node;
    if (typeof value === "string") place.style = styles[node.type ?? "PLAIN"] ?? "other";
    // Only integers must be exact; other decimal fractions are rounded anyway.
    if (typeof value === "number" && !Number.isSafeInteger(value) && /^[-+]?(?:\d+|0[ox].*)$/.test(source))
      this.#report(
        "unsupported-number",
        place.start,
        place.end,
        `The number ${source} cannot be held exactly.`,
      );
    return value;
  }
}

interface Pair {
  readonly key: Node | null;
  readonly value: Node | null;
}

/** Returns the end of a value, without the white space after a block. */
function endOf(node: Node | null): number | undefined {
  if (isMap(node)) return endOf((node.items.at(-1)?.value ?? null) as Node | null) ?? node.range?.[1];
  if (isSeq(node)) return endOf((node.items.at(-1) ?? null) as Node | null) ?? node.range?.[1];
  return node?.range?.[1];
}

const styles: Readonly<Record<string, StringStyle>> = {
  PLAIN: "plain",
  QUOTE_SINGLE: "literal",
  QUOTE_DOUBLE: "escaped",
  BLOCK_LITERAL: "plain",
  BLOCK_FOLDED: "plain",
};
