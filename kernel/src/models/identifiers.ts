/** The longest identifier that every provider accepts. */
const maxLength = 64;

/**
 * Maps arbitrary names to identifiers that every provider accepts (`[A-Za-z0-9_-]{1,64}`, not beginning with a digit
 * or hyphen). No two names share one. The same names in the same order always get the same identifiers; `known`
 * preserves them across a compaction.
 */
export class Identifiers {
  readonly #byName: Map<string, string>;
  readonly #byIdentifier = new Map<string, string>();
  /** The last number tried for each stem, so that many equal stems need no search. */
  readonly #numbers = new Map<string, number>();
  /** The identifiers that were made, oldest first; the known ones are not among them. */
  readonly #added: { readonly name: string; readonly identifier: string; isNamed: boolean }[] = [];

  constructor(known: Iterable<readonly [name: string, identifier: string]> = []) {
    this.#byName = new Map(known);
    for (const [name, identifier] of this.#byName) this.#byIdentifier.set(identifier, name);
  }

  /** Returns the identifier of the name; every call returns the same one. */
  of(name: string): string {
    const known = this.#byName.get(name);
    if (known !== undefined) return known;
    const identifier = this.fresh(name);
    this.#byName.set(name, identifier);
    const added = this.#added.at(-1);
    if (added !== undefined) added.isNamed = true;
    return identifier;
  }

  /**
   * Returns an identifier that was not used before, neither by a name nor by an earlier call, even if the name has
   * one.
   */
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
    this.#added.push({ name, identifier, isNamed: false });
    return identifier;
  }

  /** The number of identifiers that were made. */
  get made(): number {
    return this.#added.length;
  }

  /** Forgets all identifiers but the first ones that were made. */
  keep(made: number): void {
    for (const { name, identifier, isNamed } of this.#added.splice(made)) {
      this.#byIdentifier.delete(identifier);
      if (isNamed) this.#byName.delete(name);
      this.#numbers.delete(stemOf(name));
    }
  }

  /** Returns the name for an identifier that a model used; undefined if it was never assigned. */
  nameOf(identifier: string): string | undefined {
    return this.#byIdentifier.get(identifier);
  }

  /** Returns the same names and identifiers, which later ones do not change. */
  copy(): Identifiers {
    const copy = new Identifiers(this.#byName);
    for (const [identifier, name] of this.#byIdentifier) copy.#byIdentifier.set(identifier, name);
    return copy;
  }

  entries(): ReadonlyMap<string, string> {
    return this.#byName;
  }
}

function stemOf(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_-]/g, "_");
  return (/^[A-Za-z_]/.test(plain) ? plain : `_${plain}`).slice(0, maxLength);
}
