/** Finds marks in a text that arrives in pieces, and holds back what may become one. */
export class MarkScanner {
  readonly #marks: readonly string[];
  #held = "";

  constructor(marks: readonly string[]) {
    this.#marks = marks.filter((mark) => mark !== "");
  }

  /** Returns the text up to the first mark, that mark or null, and for a mark what follows it. */
  push(text: string): { readonly text: string; readonly mark: string | null; readonly rest: string } {
    const all = this.#held + text;
    let at = all.length;
    let found: string | null = null;
    for (const mark of this.#marks) {
      const index = all.indexOf(mark);
      // The longest of several marks at the same place counts.
      if (index < 0 || index > at || (index === at && mark.length <= (found?.length ?? 0))) continue;
      [at, found] = [index, mark];
    }
    if (found !== null) {
      this.#held = "";
      return { text: all.slice(0, at), mark: found, rest: all.slice(at + found.length) };
    }
    const heldLength = this.#heldLength(all);
    this.#held = all.slice(all.length - heldLength);
    return { text: all.slice(0, all.length - heldLength), mark: null, rest: "" };
  }

  /** Returns what was held back, because nothing follows. */
  end(): string {
    const held = this.#held;
    this.#held = "";
    return held;
  }

  /** Returns the length of the longest end of the text with which a mark begins. */
  #heldLength(text: string): number {
    const longest = Math.max(0, ...this.#marks.map(({ length }) => length - 1));
    for (let length = Math.min(longest, text.length); length > 0; length--) {
      const end = text.slice(text.length - length);
      if (this.#marks.some((mark) => mark.startsWith(end))) return length;
    }
    return 0;
  }
}
