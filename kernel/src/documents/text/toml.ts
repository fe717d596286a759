import { type AST, ParseError, parseTOML } from "toml-eslint-parser";
import {
  Complexity,
  documentLimits,
  forbiddenKeys,
  TooComplex,
  type Reading,
  type ReportFault,
  type SourceNode,
} from "./source.ts";
import { tomlTokens } from "./toml-tokens.ts";
import type { Steps } from "./turns.ts";

/** Reads TOML 1.0. Dates become ISO strings, as in YAML's core schema. */
export function* readToml(text: string, report: ReportFault): Steps<Reading | null> {
  boundValues(text);
  yield;
  let program: AST.TOMLProgram;
  try {
    // The parser does not accept byte order marks; a space in its place preserves every offset.
    program = parseTOML(text.replace(/^\ufeff/, " "), { tomlVersion: "1.0" });
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    const duplicate = error.message.startsWith("Defining a key multiple times");
    const end = error.index + (/^[\w-]*/.exec(text.slice(error.index, error.index + 256))?.[0].length ?? 0);
    report(
      duplicate ? "duplicate-key" : "syntax",
      error.index,
      Math.max(end, error.index + 1),
      `${error.message}.`,
      duplicate ? endOfLine(text, error.index) : undefined,
    );
    return null;
  }
  yield;
  const builder = new TomlBuilder(report);
  const value: Record<string, unknown> = {};
  const root: SourceNode = { start: 0, end: text.length, children: new Map() };
  for (const item of program.body[0].body) {
    yield;
    if (item.type === "TOMLKeyValue") {
      builder.assign(value, root, item, 0);
      continue;
    }
    const table = builder.openTable(value, root, item);
    if (table === null) continue;
    for (const pair of item.body) {
      yield;
      builder.assign(table.value, table.place, pair, table.depth);
    }
  }
  return { value, root };
}

type Table = Record<string, unknown>;

class TomlBuilder {
  readonly #report: ReportFault;
  readonly #complexity = new Complexity();

  constructor(report: ReportFault) {
    this.#report = report;
  }

  /** Returns the table that a header names and creates it if necessary; null if its name is not allowed. */
  openTable(
    value: Table,
    place: SourceNode,
    item: AST.TOMLTable,
  ): { value: Table; place: SourceNode; depth: number } | null {
    let current: Table | unknown[] = value;
    let at = place;
    let keyIndex = 0;
    for (const [index, key] of item.resolvedKey.entries()) {
      // Positions in an array of tables have no key in the header.
      const keyNode = typeof key === "string" ? item.key.keys[keyIndex++] : item.key.keys[keyIndex - 1];
      const next: Table | unknown[] = typeof item.resolvedKey[index + 1] === "number" ? [] : {};
      const step = this.#step(current, at, String(key), keyNode, next, index + 1);
      if (step === null) return null;
      [current, at] = step;
    }
    return Array.isArray(current) ? null : { value: current, place: at, depth: item.resolvedKey.length };
  }

  assign(value: Table, place: SourceNode, pair: AST.TOMLKeyValue, depth: number): void {
    let current: Table | unknown[] = value;
    let at = place;
    for (const [index, keyNode] of pair.key.keys.entries()) {
      const key = nameOf(keyNode);
      if (index < pair.key.keys.length - 1) {
        const step = this.#step(current, at, key, keyNode, {}, depth + index + 1);
        if (step === null) return;
        [current, at] = step;
      } else if (this.#isAllowed(key, keyNode)) {
        const child = this.#read(pair.value, depth + index + 1);
        child.root.key = { start: keyNode.range[0], end: keyNode.range[1] };
        (current as Table)[key] = child.value;
        at.children.set(key, child.root);
      }
    }
  }

  #step(
    current: Table | unknown[],
    place: SourceNode,
    key: string,
    keyNode: AST.TOMLBare | AST.TOMLQuoted | undefined,
    fresh: Table | unknown[],
    depth: number,
  ): [Table | unknown[], SourceNode] | null {
    const start = keyNode?.range[0] ?? 0;
    const end = keyNode?.range[1] ?? 0;
    if (keyNode !== undefined && !this.#isAllowed(key, keyNode)) return null;
    const known = place.children.get(key);
    const holder = current as Table;
    if (known !== undefined) return [holder[key] as Table | unknown[], known];
    this.#complexity.enter(depth);
    // A table is scattered over the text; its name in the first header represents it.
    const child: SourceNode = { start, end, key: { start, end }, children: new Map() };
    holder[key] = fresh;
    place.children.set(key, child);
    return [fresh, child];
  }

  #isAllowed(key: string, node: AST.TOMLBare | AST.TOMLQuoted): boolean {
    if (!forbiddenKeys.includes(key)) return true;
    const { parent } = node.parent;
    const end = parent.type === "TOMLKeyValue" ? parent.range[1] : undefined;
    this.#report("forbidden-key", node.range[0], node.range[1], `The key "${key}" is not allowed.`, end);
    return false;
  }

  #read(node: AST.TOMLContentNode, depth: number): Reading {
    this.#complexity.enter(depth);
    const [start, end] = node.range;
    const place: SourceNode = { start, end, children: new Map() };
    switch (node.type) {
      case "TOMLArray": {
        const value = node.elements.map((element, index) => {
          const child = this.#read(element, depth + 1);
          place.children.set(String(index), child.root);
          return child.value;
        });
        return { value, root: place };
      }
      case "TOMLInlineTable": {
        const value: Table = {};
        for (const pair of node.body) this.assign(value, place, pair, depth);
        return { value, root: place };
      }
      case "TOMLValue":
        if (node.kind === "string") place.style = node.style === "basic" ? "escaped" : "literal";
        return { value: this.#scalar(node), root: place };
    }
  }

  #scalar(node: AST.TOMLValue): unknown {
    switch (node.kind) {
      case "string":
      case "boolean":
        return node.value;
      case "integer":
      case "float":
        // Only integers must be exact; other decimal fractions are rounded anyway.
        if (node.kind === "integer" && !Number.isSafeInteger(node.value)) {
          const [start, end] = node.range;
          this.#report("unsupported-number", start, end, `The number ${node.number} cannot be held exactly.`);
        }
        return node.value;
      case "offset-date-time":
      case "local-date-time":
      case "local-date":
      case "local-time":
        return node.datetime.replace(" ", "T").toUpperCase();
    }
  }
}

/** Returns the end of a pair on one line; undefined if the line has no pair, or one that may continue. */
function endOfLine(text: string, offset: number): number | undefined {
  const line = /^[^\r\n]*/.exec(text.slice(offset, offset + 1024))?.[0] ?? "";
  return /^[\w"'-]+[ \t]*=[^[{]*$/.test(line) && !/"""|'''/.test(line) ? offset + line.length : undefined;
}

function nameOf(key: AST.TOMLBare | AST.TOMLQuoted): string {
  return key.type === "TOMLBare" ? key.name : key.value;
}

/**
 * Rejects a text that certainly has too many values before the parser sees it, because the parser cannot be
 * interrupted. Each pair has one value, and so has each table or list that is not a pair's value.
 */
function boundValues(text: string): void {
  let values = 0;
  let marks = 0;
  let before = "";
  for (const { kind, start } of tomlTokens(text)) {
    const mark = kind === "punctuation" ? text.charAt(start) : "";
    if (mark === "=" || ((mark === "[" || mark === "{") && before !== "=" && before !== "[")) values++;
    if (mark !== "" && "[{,=".includes(mark)) marks++;
    // A list has a separator for each of its values, and an inline pair has two.
    if (values > documentLimits.values || marks > documentLimits.values * 2)
      throw new TooComplex(`of more than ${documentLimits.values} values`);
    before = mark;
  }
}
