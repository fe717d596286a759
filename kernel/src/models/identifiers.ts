/** The longest identifier that every provider takes. */
const maxLength = 64;

/**
 * Gives names that any provider accepts (`[A-Za-z0-9_-]{1,64}`, no digit or hyphen first) to names that may be anything. No two
 * names share one. The same names in the same order always get the same identifiers; `known` carries them past a compaction.
 */
export class Identifiers {
  readonly #byName: Map<string, string>;
  readonly #byIdentifier = new Map<string, string>();
  /** By stem, the last number that was tried, so that many equal stems do not cost a search each. */
  readonly #numbers = new Map<string, number>();

  constructor(known: Iterable<readonly [name: string, identifier: string]> = []) {
    this.#byName = new Map(known);
    for (const [name, identifier] of this.#byName) this.#byIdentifier.set(identifier, name);
  }

  /** Returns the identifier of the name, the same for each call. */
  of(name: string): string {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const identifier = this.fresh(name);
    this.#byName.set(name, identifier);
    return identifier;
  }

  /** Returns an identifier that no name and no earlier call of this function has, whatever the name had before. */
  fresh(name: string): string {
    const stem = stemOf(name);
    let identifier = stem;
    let number = this.#numbers.get(stem) ?? 1;
    while (this.#byIdentifier.has(identifier)) {
      number++;
      const ending = `_${number}`;
      identifier = stem.slice(0, maxLength - ending.length) + ending;
    }
    this.#numbers.set(stem, number);
    this.#byIdentifier.set(identifier, name);
    return identifier;
  }

  /** Returns the name behind an identifier that a model used, or undefined for one that was never given out. */
  nameOf(identifier: string): string | undefined {
    return this.#byIdentifier.get(identifier);
  }

  entries(): ReadonlyMap<string, string> {
    return this.#byName;
  }
}

function stemOf(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_-]/g, "_");
  return (/^[A-Za-z_]/.test(plain) ? plain : `_${plain}`).slice(0, maxLength);
}
