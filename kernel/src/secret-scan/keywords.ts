/** Called at the end of each keyword in a text; `keyword` is its index in the automaton's list. */
type OnKeyword = (keyword: number, end: number) => void;

/**
 * Finds many short words in a text at once, ignoring the case of ASCII letters (Aho–Corasick, as one transition
 * table). Takes one look-up per character, regardless of the number of words. A text may come in pieces.
 */
export class KeywordAutomaton {
  /** The next state, indexed by `state + class`; a state is stored as its number times the number of classes. */
  readonly #next: Uint32Array;
  /** The class of each character code below 128; 0 for characters that occur in no keyword. */
  readonly #classes = new Uint8Array(128);
  /** The keywords that end in a state, indexed by the state's number. */
  readonly #found: (readonly number[] | undefined)[];
  /** For each state, indexed like `#next` at its class 0: 1 if keywords end there. */
  readonly #isFinal: Uint8Array;
  /** For each state's number: the length of the longest beginning of a keyword with which the text ends. */
  readonly #depths: Uint16Array;
  readonly #width: number;

  /** Keywords must be ASCII. */
  constructor(keywords: readonly string[]) {
    let width = 1;
    for (const character of keywords.join("").toLowerCase()) {
      const code = character.charCodeAt(0);
      if (this.#classes[code] === 0) this.#classes[code] = width++;
    }
    for (let code = 65; code <= 90; code++) this.#classes[code] = this.#classes[code + 32] ?? 0;
    this.#width = width;

    const children: Map<number, number>[] = [new Map()];
    const ends: number[][] = [[]];
    const depths: number[] = [0];
    for (const [index, keyword] of keywords.entries()) {
      let state = 0;
      for (const character of keyword) {
        const of = this.#classOf(character.charCodeAt(0));
        let child = children[state]?.get(of);
        if (child === undefined) {
          child = children.push(new Map()) - 1;
          ends.push([]);
          depths.push((depths[state] ?? 0) + 1);
          children[state]?.set(of, child);
        }
        state = child;
      }
      ends[state]?.push(index);
    }

    // Breadth first: a state's fallback is shorter, so its row is already complete.
    this.#next = new Uint32Array(children.length * width);
    const fallback = new Uint32Array(children.length);
    const queue: number[] = [0];
    for (const state of queue) {
      const row = state * width;
      const fallbackRow = (fallback[state] ?? 0) * width;
      ends[state]?.push(...(state === 0 ? [] : (ends[fallback[state] ?? 0] ?? [])));
      for (let of = 0; of < width; of++) {
        const child = children[state]?.get(of);
        if (child === undefined) this.#next[row + of] = state === 0 ? 0 : (this.#next[fallbackRow + of] ?? 0);
        else {
          fallback[child] = state === 0 ? 0 : (this.#next[fallbackRow + of] ?? 0) / width;
          this.#next[row + of] = child * width;
          queue.push(child);
        }
      }
    }
    this.#found = ends.map((list) => (list.length === 0 ? undefined : list));
    this.#isFinal = new Uint8Array(children.length * width);
    for (const [state, list] of ends.entries()) if (list.length > 0) this.#isFinal[state * width] = 1;
    this.#depths = Uint16Array.from(depths);
  }

  /**
   * Reports the keywords that end in the text from `from` on. `state`: what the scan of the text before it returned, 0 at
   * the beginning. Returns the state at the text's end.
   */
  scan(text: string, from: number, state: number, onKeyword: OnKeyword): number {
    const next = this.#next;
    const classes = this.#classes;
    const isFinal = this.#isFinal;
    const { length } = text;
    let current = state;
    for (let at = from; at < length; at++) {
      const code = text.charCodeAt(at);
      current = next[current + (code < 128 ? (classes[code] as number) : 0)] as number;
      if (isFinal[current] === 1)
        for (const keyword of this.#found[current / this.#width] ?? []) onKeyword(keyword, at + 1);
    }
    return current;
  }

  /** Returns how many characters at the end of the text may be the beginning of a keyword. */
  depthOf(state: number): number {
    return this.#depths[state / this.#width] ?? 0;
  }

  #classOf(code: number): number {
    return code < 128 ? (this.#classes[code] ?? 0) : 0;
  }
}
