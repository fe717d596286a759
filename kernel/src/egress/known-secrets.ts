/** A value that must not leave, with its name for people. */
export interface KnownSecret {
  readonly name: string;
  readonly value: string;
}

/** Shorter values occur by chance. Bytes. */
export const minKnownSecretBytes = 8;

/** Finds known secrets in bytes, in each form in which they commonly travel: as they are, in URLs, JSON, Base64 and hex. */
export class ExactSecrets {
  /** Longest first, so that no form is cut by a shorter one inside it. */
  readonly #forms: readonly { readonly name: string; readonly bytes: Buffer }[];

  constructor(secrets: readonly KnownSecret[]) {
    this.#forms = secrets
      .filter(({ value }) => Buffer.byteLength(value) >= minKnownSecretBytes)
      .flatMap(({ name, value }) =>
        [...formsOf(value)].map((form) => ({ name, bytes: Buffer.from(form, "utf8") })),
      )
      .toSorted((one, other) => other.bytes.length - one.bytes.length);
  }

  /** Bytes of the longest form: a cut this far behind the end of a text leaves no part of a secret in it. */
  get longestForm(): number {
    return this.#forms[0]?.bytes.length ?? 0;
  }

  /** Returns the name of a secret that the bytes hold, or null. */
  find(bytes: Uint8Array): string | null {
    const searched = viewOf(bytes);
    return this.#forms.find((form) => searched.includes(form.bytes))?.name ?? null;
  }

  /** Returns the bytes with every secret replaced; the same object if there is none. */
  redact(bytes: Uint8Array, mark: (name: string) => string): Uint8Array {
    let current = viewOf(bytes);
    let isChanged = false;
    for (const { name, bytes: form } of this.#forms) {
      if (!current.includes(form)) continue;
      isChanged = true;
      current = replaceAll(current, form, Buffer.from(mark(name)));
    }
    return isChanged ? current : bytes;
  }

  redactText(text: string, mark: (name: string) => string): string {
    if (this.#forms.length === 0) return text;
    const bytes = Buffer.from(text, "utf8");
    const redacted = this.redact(bytes, mark);
    return redacted === bytes ? text : viewOf(redacted).toString("utf8");
  }
}

function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function replaceAll(bytes: Buffer, form: Buffer, replacement: Buffer): Buffer {
  const parts: Buffer[] = [];
  let from = 0;
  for (let at = bytes.indexOf(form); at !== -1; at = bytes.indexOf(form, from)) {
    parts.push(bytes.subarray(from, at), replacement);
    from = at + form.length;
  }
  return Buffer.concat([...parts, bytes.subarray(from)]);
}

function formsOf(value: string): Set<string> {
  const bytes = Buffer.from(value, "utf8");
  const hex = bytes.toString("hex");
  const percent = encodeURIComponent(value);
  return new Set([
    value,
    JSON.stringify(value).slice(1, -1),
    percent,
    percent.replaceAll("%20", "+"),
    percent.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    // Every byte escaped, as some clients do.
    [...bytes].map((byte) => `%${byte.toString(16).padStart(2, "0").toUpperCase()}`).join(""),
    hex,
    hex.toUpperCase(),
    ...[0, 1, 2].flatMap((shift) => base64Forms(bytes, shift)),
  ]);
}

/**
 * Returns what the Base64 of any text with the value in it contains, if the value starts at this offset modulo 3: the
 * first and last characters depend on the neighbours, so they are left out.
 */
function base64Forms(bytes: Buffer, shift: number): string[] {
  const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString("base64url");
  const core = text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
  return [core, core.replaceAll("-", "+").replaceAll("_", "/")];
}
