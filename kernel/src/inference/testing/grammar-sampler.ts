/** Draws texts that a grammar of llama.cpp allows, as a model with random weights would write them. */

type Node =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "class";
      readonly ranges: readonly (readonly [number, number])[];
      readonly isNegated: boolean;
    }
  | { readonly type: "rule"; readonly name: string }
  | { readonly type: "choice"; readonly choices: readonly (readonly Node[])[] }
  | { readonly type: "repeat"; readonly node: Node; readonly least: number; readonly most: number };

/** Beyond this depth the shortest way out is taken. */
const maxDepth = 24;
const mostMore = 3;

/** `draw` returns a whole number from 0 up to, and without, its argument. */
export function sampleGrammar(text: string, draw: (below: number) => number): string {
  const rules = parseGrammar(text);
  const write = (nodes: readonly Node[], depth: number): string =>
    nodes.map((node) => writeNode(node, depth)).join("");
  const writeNode = (node: Node, depth: number): string => {
    switch (node.type) {
      case "text":
        return node.text;
      case "class":
        return characterOf(node, draw);
      case "rule": {
        const choices = rules.get(node.name);
        if (choices === undefined) throw new Error(`There is no rule ${node.name}.`);
        return write(chosen(choices, depth), depth + 1);
      }
      case "choice":
        return write(chosen(node.choices, depth), depth + 1);
      case "repeat": {
        const more = depth > maxDepth ? 0 : draw(Math.min(node.most - node.least, mostMore) + 1);
        return Array.from({ length: node.least + more }, () => writeNode(node.node, depth + 1)).join("");
      }
    }
  };
  const chosen = (choices: readonly (readonly Node[])[], depth: number): readonly Node[] =>
    (depth > maxDepth
      ? choices.toSorted((one, other) => weight(one) - weight(other))[0]
      : choices[draw(choices.length)]) ?? [];
  return write(chosen(rules.get("root") ?? [], 0), 0);
}

const weight = (nodes: readonly Node[]): number =>
  nodes.filter(({ type }) => type === "rule" || type === "choice").length;

function characterOf(
  { ranges, isNegated }: Extract<Node, { readonly type: "class" }>,
  draw: (below: number) => number,
): string {
  const isIn = (code: number): boolean => ranges.some(([from, to]) => code >= from && code <= to);
  if (isNegated)
    for (;;) {
      const code = draw(4) === 0 ? 0x100 + draw(0x1000) : draw(0x100);
      if (!isIn(code)) return String.fromCodePoint(code);
    }
  const [from, to] = ranges[draw(ranges.length)] ?? [0, 0];
  return String.fromCodePoint(from + draw(to - from + 1));
}

function parseGrammar(text: string): Map<string, readonly (readonly Node[])[]> {
  const rules = new Map<string, readonly (readonly Node[])[]>();
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    const at = line.indexOf("::=");
    if (at < 0) throw new Error(`This is no rule: ${line}`);
    const parser = new Parser(line.slice(at + 3));
    rules.set(line.slice(0, at).trim(), parser.choices());
    if (!parser.isAtEnd) throw new Error(`The rule does not end where it should: ${line}`);
  }
  return rules;
}

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    this.#space();
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  choices(): readonly (readonly Node[])[] {
    const choices = [this.#sequence()];
    while (this.#takes("|")) choices.push(this.#sequence());
    return choices;
  }

  #sequence(): readonly Node[] {
    const nodes: Node[] = [];
    for (;;) {
      const node = this.#item();
      if (node === null) return nodes;
      nodes.push(this.#repeated(node));
    }
  }

  #item(): Node | null {
    const character = this.#text[this.#at];
    if (character === undefined || character === "|" || character === ")") return null;
    if (this.#takes("(")) {
      const choices = this.choices();
      if (!this.#takes(")")) throw new Error(`A bracket is not closed: ${this.#text}`);
      return { type: "choice", choices };
    }
    if (character === '"') {
      this.#at++;
      let text = "";
      while (this.#text[this.#at] !== '"') text += String.fromCodePoint(this.#character());
      this.#at++;
      this.#space();
      return { type: "text", text };
    }
    if (character === "[") return this.#class();
    const name = /^[A-Za-z0-9-]+/.exec(this.#text.slice(this.#at))?.[0];
    if (name === undefined) throw new Error(`What is at ${this.#at}? ${this.#text}`);
    this.#at += name.length;
    this.#space();
    return { type: "rule", name };
  }

  #class(): Node {
    this.#at++;
    const isNegated = this.#text[this.#at] === "^";
    if (isNegated) this.#at++;
    const ranges: [number, number][] = [];
    while (this.#text[this.#at] !== "]") {
      const from = this.#character();
      const isRange = this.#text[this.#at] === "-" && this.#text[this.#at + 1] !== "]";
      if (isRange) this.#at++;
      ranges.push([from, isRange ? this.#character() : from]);
    }
    this.#at++;
    this.#space();
    return { type: "class", ranges, isNegated };
  }

  #repeated(node: Node): Node {
    const [all, sign = "", least = "", comma = "", most = ""] =
      /^(?:([*+?])|\{(\d+)(,?)(\d*)\})/.exec(this.#text.slice(this.#at)) ?? [];
    if (all === undefined) return node;
    this.#at += all.length;
    this.#space();
    if (sign === "*") return { type: "repeat", node, least: 0, most: Infinity };
    if (sign === "+") return { type: "repeat", node, least: 1, most: Infinity };
    if (sign === "?") return { type: "repeat", node, least: 0, most: 1 };
    const low = Number(least);
    return {
      type: "repeat",
      node,
      least: low,
      most: comma === "" ? low : most === "" ? Infinity : Number(most),
    };
  }

  /** Reads one character of a text or class. */
  #character(): number {
    const code = this.#text.codePointAt(this.#at);
    if (code === undefined) throw new Error(`The rule ends early: ${this.#text}`);
    this.#at += code > 0xffff ? 2 : 1;
    if (code !== 0x5c) return code;
    const escape = this.#text[this.#at++] ?? "";
    const digits = { x: 2, u: 4, U: 8 }[escape];
    if (digits === undefined) return ({ n: 10, r: 13, t: 9 }[escape] ?? escape.codePointAt(0)) as number;
    const value = Number.parseInt(this.#text.slice(this.#at, this.#at + digits), 16);
    this.#at += digits;
    return value;
  }

  #takes(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    this.#space();
    return true;
  }

  #space(): void {
    while (this.#text[this.#at] === " ") this.#at++;
  }
}
