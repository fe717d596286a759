import type { KnownSecret } from "../../egress/known-secrets.ts";

/** The secrets that were used since the kernel started: what must not leave in any other way. */
export class IssuedSecrets {
  readonly #values = new Map<string, string>();
  #known: readonly KnownSecret[] = [];

  /** Returns the value. */
  issue(name: string, value: string): string {
    if (this.#values.get(value) === name) return value;
    this.#values.set(value, name);
    this.#known = [...this.#values].map(([each, itsName]) => ({ name: itsName, value: each }));
    return value;
  }

  get known(): readonly KnownSecret[] {
    return this.#known;
  }
}
