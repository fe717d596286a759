import { finished } from "../base/steps.ts";
import { minFoundSecretBytes } from "../base/vocabulary/secret.ts";

/** A value that must not leave, with its name for people. */
export interface KnownSecret {
  readonly name: string;
  readonly value: string;
}

/** Bytes that are searched in one step, and secrets that are replaced in one. */
const longSearch = 256 * 1024;
const matchesPerStep = 1_000;

/** Finds known secrets in bytes, in each form in which they commonly travel: as they are, in URLs, JSON, Base64 and hex. */
export class ExactSecrets {
  /** Longest first, so that no form is cut by a shorter one inside it. */
  readonly #forms: readonly { readonly name: string; readonly bytes: Buffer }[];

  constructor(secrets: readonly KnownSecret[]) {
    this.#forms = secrets
      .filter(({ value }) => Buffer.byteLength(value) >= minFoundSecretBytes)
      .flatMap(({ name, value }) =>
        [...formsOf(value)].map((form) => ({ name, bytes: Buffer.from(form, "utf8") })),
      )
      .toSorted((one, other) => other.bytes.length - one.bytes.length);
  }

  /** Bytes of the longest form: a text that is cut this far behind what is wanted of it holds each secret whole. */
  get longestForm(): number {
    return this.#forms[0]?.bytes.length ?? 0;
  }

  /** Returns the name of a secret that the bytes hold, or null. */
  find(bytes: Uint8Array): string | null {
    return finished(this.finding(bytes));
  }

  /** As `find`, in short steps. */
  *finding(bytes: Uint8Array): Generator<void, string | null> {
    const searched = viewOf(bytes);
    for (const form of this.#forms) if ((yield* placeOf(form.bytes, searched, 0)) !== -1) return form.name;
    return null;
  }

  /** Returns the bytes with every secret replaced; the same object if there is none. */
  redact(bytes: Uint8Array, mark: (name: string) => string): Uint8Array {
    return finished(this.redacting(bytes, mark, { isCut: false, most: Number.POSITIVE_INFINITY }));
  }

  /**
   * As `redact`, in short steps, and at most `most` bytes of the result. `isCut`: more bytes followed. Then the last ones
   * may be a part of a secret and are left out: more than those behind `most`, where marks are shorter than secrets.
   */
  *redacting(
    bytes: Uint8Array,
    mark: (name: string) => string,
    { isCut, most }: { readonly isCut: boolean; readonly most: number },
  ): Generator<void, Uint8Array> {
    const searched = viewOf(bytes);
    const done = new Pieces();
    let from = 0;
    // The next place of each form, until there is none.
    let ahead = this.#forms.map((form) => ({ ...form, at: -1 }));
    for (let count = 1; done.length < most; count++) {
      for (const form of ahead) if (form.at < from) form.at = yield* placeOf(form.bytes, searched, from);
      ahead = ahead.filter(({ at }) => at !== -1);
      const [first, ...others] = ahead;
      if (first === undefined) break;
      // The longest of those at one place.
      const next = others.reduce((best, form) => (form.at < best.at ? form : best), first);
      done.push(searched.subarray(from, next.at), Buffer.from(mark(next.name)));
      from = next.at + next.bytes.length;
      if (count % matchesPerStep === 0) yield;
    }
    const end = isCut ? Math.max(from, searched.length - this.longestForm) : searched.length;
    if (from === 0 && end <= most && end === bytes.length) return bytes;
    done.push(searched.subarray(from, end));
    return done.joined().subarray(0, most);
  }

  redactText(text: string, mark: (name: string) => string): string {
    if (this.#forms.length === 0) return text;
    const bytes = Buffer.from(text, "utf8");
    const redacted = this.redact(bytes, mark);
    return redacted === bytes ? text : viewOf(redacted).toString("utf8");
  }
}

/** Returns where the wanted bytes begin next, or -1, in steps. */
function* placeOf(wanted: Buffer, bytes: Buffer, from: number): Generator<void, number> {
  for (let at = from; at < bytes.length; at += longSearch) {
    const place = bytes.subarray(at, at + longSearch + wanted.length - 1).indexOf(wanted);
    if (place !== -1) return at + place;
    if (at + longSearch < bytes.length) yield;
  }
  return -1;
}

function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Parts of a text, of which there may be as many as it has secrets. */
class Pieces {
  readonly #joined: Buffer[] = [];
  #loose: Buffer[] = [];
  length = 0;

  push(...parts: readonly Buffer[]): void {
    for (const part of parts) this.length += part.length;
    this.#loose.push(...parts);
    if (this.#loose.length >= matchesPerStep) this.#join();
  }

  joined(): Buffer {
    this.#join();
    return Buffer.concat(this.#joined);
  }

  #join(): void {
    this.#joined.push(Buffer.concat(this.#loose));
    this.#loose = [];
  }
}

function formsOf(value: string): Set<string> {
  const bytes = Buffer.from(value, "utf8");
  const hex = bytes.toString("hex");
  const percent = encodeURIComponent(value);
  return new Set([
    value,
    ...jsonForms(value),
    ...markupForms(value),
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

/** The value in a text of JSON, as the libraries of several languages write it: all escape more than they must. */
function jsonForms(value: string): string[] {
  const json = JSON.stringify(value).slice(1, -1);
  const ascii = escaped(json, /[^\x20-\x7e]/g);
  return [
    json,
    // As a text inside a message that is JSON itself.
    JSON.stringify(json).slice(1, -1),
    ascii,
    // PHP
    json.replaceAll("/", "\\/"),
    ascii.replaceAll("/", "\\/"),
    // Go
    escaped(json, /[&<>\u2028\u2029]/g),
    // .NET
    escaped(json.replaceAll('\\"', "\\u0022"), /[&'+<>`]|[^\x20-\x7e]/g, "upper"),
  ];
}

function escaped(text: string, characters: RegExp, letters: "lower" | "upper" = "lower"): string {
  return text.replaceAll(characters, (unit) => {
    const code = unit.charCodeAt(0).toString(16).padStart(4, "0");
    return `\\u${letters === "upper" ? code.toUpperCase() : code}`;
  });
}

/** The value in a text of HTML or XML. */
function markupForms(value: string): string[] {
  const escapedText = value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const quoted = escapedText.replaceAll('"', "&quot;");
  return [
    escapedText,
    quoted,
    ...["&#39;", "&#x27;", "&#039;", "&apos;"].map((apostrophe) => quoted.replaceAll("'", apostrophe)),
    escapedText.replaceAll('"', "&#34;").replaceAll("'", "&#39;"),
  ];
}

/**
 * Returns what the Base64 of any text with the value in it contains, if the value starts at this offset modulo 3: the
 * first and last characters depend on the neighbours, so they are left out.
 */
function base64Forms(bytes: Buffer, shift: number): string[] {
  const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString("base64url");
  const core = text.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
  const standard = core.replaceAll("-", "+").replaceAll("_", "/");
  // In JSON of PHP and of .NET.
  return [core, standard, standard.replaceAll("/", "\\/"), standard.replaceAll("+", "\\u002B")];
}
