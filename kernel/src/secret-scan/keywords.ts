/** Called at the end of each keyword in a text; `keyword` is its index in the automaton's list. */
export type OnKeyword = (keyword: number, end: number) => void;

/**
 * Finds many short words in a text at once, ignoring the case of ASCII letters (Aho–Corasick, as one transition
 * table). Takes one look-up per character, regardless of the number of words.
 */
export class KeywordAutomaton {
  /** The next state, indexed by `state + class`; a state is stored as its number times the number of classes. */
  readonly #next: Uint32Array;
  /** The class of each character code below 128; 0 for characters that occur in no keyword. */
  readonly #classes = new Uint8Array(128);
  /** The keywords that end in a state, indexed by the state's number. */
  readonly #found: (readonly number[] | undefined)[];
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
    for (const [index, keyword] of keywords.entries()) {
      let state = 0;
      for (const character of keyword) {
        const of = this.#classOf(character.charCodeAt(0));
        let child = children[state]?.get(of);
        if (child === undefined) {
          child = children.push(new Map()) - 1;
          ends.push([]);
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
  }

  scan(text: string, onKeyword: OnKeyword): void {
    const next = this.#next;
    const classes = this.#classes;
    const width = this.#width;
    let state = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      state = next[state + (code < 128 ? (classes[code] ?? 0) : 0)] ?? 0;
      if (state === 0) continue;
      const found = this.#found[state / width];
      if (found !== undefined) for (const keyword of found) onKeyword(keyword, at + 1);
    }
  }

  #classOf(code: number): number {
    return code < 128 ? (this.#classes[code] ?? 0) : 0;
  }
}
