import type { KnownSecret } from "../egress/known-secrets.ts";

/** The secrets that were used since the kernel started: what must not leave in any other way. */
export class IssuedSecrets {
  readonly #values = new Map<string, string>();
  #known: readonly KnownSecret[] = [];

  /**
   * Returns the value as it is sent, which is also what is searched for: without space and control characters around it,
   * such as the line break of a file, because headers, servers and parsers of addresses leave those out. In bodies it is the
   * same form.
   */
  issue(name: string, given: string): string {
    const value = trimmed(given);
    if (this.#values.get(value) === name) return value;
    this.#values.set(value, name);
    this.#known = [...this.#values].map(([each, itsName]) => ({ name: itsName, value: each }));
    return value;
  }

  get known(): readonly KnownSecret[] {
    return this.#known;
  }
}

const isOuter = /[\s\p{Cc}]/u;

function trimmed(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && isOuter.test(text.charAt(from))) from++;
  while (to > from && isOuter.test(text.charAt(to - 1))) to--;
  return text.slice(from, to);
}
