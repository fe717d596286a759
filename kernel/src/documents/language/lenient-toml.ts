import {
  Complexity,
  forbiddenKeys,
  type Reading,
  type SourceNode,
  type StringStyle,
} from "../text/source.ts";
import { unquoted } from "./quoting.ts";
import { tomlTokens, type TomlToken } from "../text/toml-tokens.ts";

/** A header or a `key = value` line; offsets in UTF-16 units. */
export interface TomlStatement {
  readonly kind: "header" | "list-header" | "pair";
  readonly start: number;
  /** The end of its name: before `=`, or after the brackets. */
  readonly nameEnd: number;
}

interface LenientToml extends Reading {
  readonly statements: readonly TomlStatement[];
}

/**
 * Reads a TOML text that may be incomplete. A key without a value gets null, and an unclosed list ends where the
 * next statement begins. For editing only; the authoritative reader is `readToml`. Throws TooComplex beyond the
 * bounds of documents.
 */
export function readTomlLeniently(text: string): LenientToml {
  return new LenientReader(text).read();
}

type Table = Record<string, unknown>;
interface Name {
  readonly key: string;
  readonly start: number;
  readonly end: number;
}
interface Place {
  readonly value: Table;
  readonly node: SourceNode;
  readonly depth: number;
}

class LenientReader {
  readonly #text: string;
  readonly #tokens: readonly TomlToken[];
  readonly #complexity = new Complexity();
  readonly #statements: TomlStatement[] = [];
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = tomlTokens(text);
  }

  read(): LenientToml {
    const root: Place = { value: {}, node: nodeOf(0, this.#text.length), depth: 0 };
    let table = root;
    for (let token = this.#peek(); token !== undefined; token = this.#peek()) {
      const before = this.#at;
      if (this.#is(token, "[")) table = this.#header(root) ?? table;
      else if (token.kind === "bare" || token.kind === "string") {
        this.#pair(table, true);
        this.#skipLine();
      }
      if (this.#at === before) this.#at++;
    }
    return { value: root.value, root: root.node, statements: this.#statements };
  }

  #peek(): TomlToken | undefined {
    return this.#tokens[this.#at];
  }

  #is(token: TomlToken | undefined, character: string): boolean {
    return token?.kind === "punctuation" && this.#text.charAt(token.start) === character;
  }

  #skipLine(): void {
    while (this.#peek() !== undefined && this.#peek()?.kind !== "newline") this.#at++;
  }

  #header(root: Place): Place | null {
    const start = this.#peek()?.start ?? 0;
    this.#at++;
    const isList = this.#is(this.#peek(), "[");
    if (isList) this.#at++;
    const names = this.#names();
    while (this.#is(this.#peek(), "]")) this.#at++;
    const nameEnd = this.#tokens[this.#at - 1]?.end ?? start;
    this.#statements.push({ kind: isList ? "list-header" : "header", start, nameEnd });
    this.#skipLine();
    let place: Place | null = root;
    for (const [index, name] of names.entries()) {
      if (place === null) return null;
      const isLast: boolean = index === names.length - 1;
      place = isLast && isList ? this.#append(place, name) : this.#open(place, name);
    }
    return place;
  }

  /** Returns the parts of a dotted key, up to the first token that cannot be one. */
  #names(): Name[] {
    const names: Name[] = [];
    for (let token = this.#peek(); token?.kind === "bare" || token?.kind === "string"; token = this.#peek()) {
      const { start, end } = token;
      if (token.kind === "string") {
        names.push({ key: unquoted(this.#text.slice(start, end)), start, end });
      } else {
        let from = start;
        for (const part of this.#text.slice(start, end).split(".")) {
          if (part !== "") names.push({ key: part, start: from, end: from + part.length });
          from += part.length + 1;
        }
      }
      this.#at++;
    }
    return names;
  }

  /** Returns the table with this name and creates it if necessary. For an array of tables, returns the last one. */
  #open(place: Place, name: Name): Place | null {
    if (forbiddenKeys.includes(name.key)) return null;
    const known = Object.hasOwn(place.value, name.key) ? place.value[name.key] : undefined;
    const node = place.node.children.get(name.key);
    if (node !== undefined && Array.isArray(known)) {
      const last: unknown = known.at(-1);
      const lastNode = node.children.get(String(known.length - 1));
      return isTable(last) && lastNode !== undefined
        ? { value: last, node: lastNode, depth: place.depth + 2 }
        : null;
    }
    if (node !== undefined && isTable(known)) return { value: known, node, depth: place.depth + 1 };
    if (node !== undefined && known !== null) return null;
    return this.#table(place, name.key, name);
  }

  #append(place: Place, name: Name): Place | null {
    if (forbiddenKeys.includes(name.key)) return null;
    const known = Object.hasOwn(place.value, name.key) ? place.value[name.key] : undefined;
    const list: unknown[] = Array.isArray(known) ? known : [];
    let node = place.node.children.get(name.key);
    if (!Array.isArray(known) || node === undefined) {
      if (node !== undefined && known !== null) return null;
      this.#complexity.enter(place.depth + 1);
      node = { ...nodeOf(name.start, name.end), key: { start: name.start, end: name.end } };
      place.value[name.key] = list;
      place.node.children.set(name.key, node);
    }
    const holder: Place = { value: list as unknown as Table, node, depth: place.depth + 1 };
    return this.#table(holder, String(list.length), name);
  }

  #table(place: Place, key: string, name: Name): Place {
    this.#complexity.enter(place.depth + 1);
    const node: SourceNode = { ...nodeOf(name.start, name.end), key: { start: name.start, end: name.end } };
    const value: Table = {};
    place.value[key] = value;
    place.node.children.set(key, node);
    return { value, node, depth: place.depth + 1 };
  }

  #pair(place: Place, isStatement: boolean): void {
    const start = this.#peek()?.start ?? 0;
    const names = this.#names();
    const nameEnd = this.#tokens[this.#at - 1]?.end ?? start;
    if (isStatement) this.#statements.push({ kind: "pair", start, nameEnd });
    let owner: Place | null = place;
    for (const name of names.slice(0, -1)) owner = owner && this.#open(owner, name);
    const last = names.at(-1);
    const read = this.#is(this.#peek(), "=") ? (this.#at++, this.#value(place.depth + names.length)) : null;
    if (owner === null || last === undefined || forbiddenKeys.includes(last.key)) return;
    const key = { start: last.start, end: last.end };
    const node = read?.root ?? nodeOf(last.start, last.end);
    node.key = key;
    owner.value[last.key] = read?.value ?? null;
    owner.node.children.set(last.key, node);
  }

  /** Returns null if no value follows on this line. */
  #value(depth: number): Reading | null {
    const token = this.#peek();
    if (token === undefined) return null;
    if (this.#is(token, "[")) return this.#list(depth);
    if (this.#is(token, "{")) return this.#inlineTable(depth);
    if (token.kind !== "string" && token.kind !== "bare") return null;
    this.#complexity.enter(depth);
    this.#at++;
    const root = nodeOf(token.start, token.end);
    const written = this.#text.slice(token.start, token.end);
    if (token.kind === "bare") return { value: bareValue(written), root };
    root.style = styleOf(token);
    return { value: unquoted(written), root };
  }

  #list(depth: number): Reading {
    this.#complexity.enter(depth);
    const root = nodeOf(this.#peek()?.start ?? 0, this.#peek()?.end ?? 0);
    const value: unknown[] = [];
    this.#at++;
    for (let token = this.#peek(); token !== undefined; token = this.#peek()) {
      if (token.kind === "newline" && this.#beginsStatement()) break;
      root.end = token.end;
      if (this.#is(token, "]")) {
        this.#at++;
        break;
      }
      const item = this.#value(depth + 1);
      if (item === null) {
        if (this.#is(token, "}")) break;
        this.#at++;
        continue;
      }
      root.children.set(String(value.length), item.root);
      value.push(item.value);
      root.end = item.root.end;
    }
    return { value, root };
  }

  #inlineTable(depth: number): Reading {
    this.#complexity.enter(depth);
    const root = nodeOf(this.#peek()?.start ?? 0, this.#peek()?.end ?? 0);
    const place: Place = { value: {}, node: root, depth };
    this.#at++;
    for (let token = this.#peek(); token !== undefined && token.kind !== "newline"; token = this.#peek()) {
      root.end = token.end;
      if (this.#is(token, "]")) break;
      if (token.kind === "bare" || token.kind === "string") {
        this.#pair(place, false);
        root.end = this.#tokens[this.#at - 1]?.end ?? root.end;
        continue;
      }
      this.#at++;
      if (this.#is(token, "}")) break;
    }
    return { value: place.value, root };
  }

  /** True if the next line begins something that a list cannot contain, so the list was never closed. */
  #beginsStatement(): boolean {
    const [first, second, third] = [1, 2, 3].map((ahead) => this.#tokens[this.#at + ahead]);
    if (first?.kind === "bare" || first?.kind === "string") return this.#is(second, "=");
    if (!this.#is(first, "[")) return false;
    const name = this.#is(second, "[") ? third : second;
    return name?.kind === "bare" && /^[A-Za-z_]/.test(this.#text.slice(name.start, name.end));
  }
}

function nodeOf(start: number, end: number): SourceNode {
  return { start, end, children: new Map() };
}

function isTable(value: unknown): value is Table {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function styleOf(token: TomlToken): StringStyle {
  return token.quote?.startsWith('"') === true ? "escaped" : "literal";
}

/** Parses a bare value for an editor; dates stay strings. */
function bareValue(written: string): unknown {
  if (written === "true" || written === "false") return written === "true";
  return /^[+-]?\d[\d_]*(?:\.\d+)?$/.test(written) ? Number(written.replaceAll("_", "")) : written;
}
