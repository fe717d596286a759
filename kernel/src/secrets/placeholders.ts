/**
 * The text that an agent gets in place of a secret's value. Letters and digits only, in lower case and of one length, so that it
 * is the same text in a URL, in JSON and in a header.
 */
const prefix = "laressecret";
const randomBytes = 24;

/** Placeholders of one kernel at most, so that agents cannot fill its memory with them. */
const maxPlaceholders = 10_000;

/** Each agent's placeholders for secrets. Ends with its process. */
export class Placeholders {
  readonly #randomHex: (byteCount: number) => string;
  /** By agent, then by secret. */
  readonly #tokens = new Map<string, Map<string, string>>();
  #count = 0;

  constructor(randomHex: (byteCount: number) => string) {
    this.#randomHex = randomHex;
  }

  /** Returns the agent's placeholder for a secret, always the same one; null if there are too many. */
  issue(agent: string, secret: string): string | null {
    const tokens = this.#tokens.get(agent) ?? new Map<string, string>();
    const known = tokens.get(secret);
    if (known !== undefined) return known;
    if (this.#count >= maxPlaceholders) return null;
    const token = `${prefix}${this.#randomHex(randomBytes)}`;
    this.#tokens.set(agent, tokens.set(secret, token));
    this.#count++;
    return token;
  }

  /** Returns the agent's placeholders with the secrets' names; those of other agents have no effect. */
  of(agent: string): readonly { readonly token: string; readonly secret: string }[] {
    return [...(this.#tokens.get(agent) ?? [])].map(([secret, token]) => ({ token, secret }));
  }
}
