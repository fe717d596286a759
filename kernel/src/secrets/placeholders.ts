/**
 * What an agent gets in place of a secret's value. Letters and digits only, in lower case and of one length, so that it
 * is the same text in a URL, in JSON and in a header.
 */
const prefix = "laressecret";
const randomBytes = 24;
const shape = new RegExp(`${prefix}[0-9a-f]{${randomBytes * 2}}`, "g");

/** Placeholders of one kernel at most, so that agents cannot fill its memory with them. */
const maxPlaceholders = 10_000;

export interface FoundPlaceholder {
  readonly token: string;
  /** Offset in the text, in UTF-16 units. */
  readonly at: number;
}

/** Returns everything in the text that has the shape of a placeholder, in order. */
export function findPlaceholders(text: string): readonly FoundPlaceholder[] {
  return Array.from(text.matchAll(shape), (match) => ({ token: match[0], at: match.index }));
}

/** Maps placeholders back to the secret and the agent that they were made for. Ends with its process. */
export class Placeholders {
  readonly #randomHex: (byteCount: number) => string;
  readonly #tokens = new Map<string, string>();
  readonly #owners = new Map<string, { readonly agent: string; readonly secret: string }>();

  constructor(randomHex: (byteCount: number) => string) {
    this.#randomHex = randomHex;
  }

  /** Returns the agent's placeholder for a secret, always the same one; null where there are too many. */
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

  /** Returns the secret's name; null where the token was made for another agent, or for none. */
  secretOf(agent: string, token: string): string | null {
    const owner = this.#owners.get(token);
    return owner?.agent === agent ? owner.secret : null;
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
