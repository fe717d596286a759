/**
 * The text that an agent gets in place of a secret's value. Letters and digits only, in lower case and of one length, so that it
 * is the same text in a URL, in JSON and in a header.
 */
const prefix = "laressecret";
const randomBytes = 24;

/** Placeholders of one kernel at most, so that agents cannot fill its memory with them. */
const maxPlaceholders = 10_000;

/** Maps placeholders back to the secret and the agent that they were made for. Ends with its process. */
export class Placeholders {
  readonly #randomHex: (byteCount: number) => string;
  readonly #tokens = new Map<string, string>();
  readonly #owners = new Map<string, { readonly agent: string; readonly secret: string }>();

  constructor(randomHex: (byteCount: number) => string) {
    this.#randomHex = randomHex;
  }

  /** Returns the agent's placeholder for a secret, always the same one; null if there are too many. */
  issue(agent: string, secret: string): string | null {
    const key = JSON.stringify([agent, secret]);
    const known = this.#tokens.get(key);
    if (known !== undefined) return known;
    if (this.#tokens.size >= maxPlaceholders) return null;
    const token = `${prefix}${this.#randomHex(randomBytes)}`;
    this.#tokens.set(key, token);
    this.#owners.set(token, { agent, secret });
    return token;
  }

  /** Returns the agent's placeholders with the secrets' names; those of other agents have no effect. */
  of(agent: string): readonly { readonly token: string; readonly secret: string }[] {
    return [...this.#owners].flatMap(([token, owner]) =>
      owner.agent === agent ? [{ token, secret: owner.secret }] : [],
    );
  }

  /** Forgets the placeholders of an agent. */
  forget(agent: string): void {
    for (const [token, owner] of this.#owners) {
      if (owner.agent !== agent) continue;
      this.#owners.delete(token);
      this.#tokens.delete(JSON.stringify([agent, owner.secret]));
    }
  }
}
