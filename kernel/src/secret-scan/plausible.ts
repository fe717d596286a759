/**
 * Decides whether a value after a name is a secret: after "password" even a short one, after the name of a service
 * only a random one.
 */
export type Strength = "strong" | "weak" | "service";

const minLength: Readonly<Record<Strength, number>> = { strong: 6, weak: 10, service: 16 };
/** A longer value is prose. */
export const maxValueLength = 256;

/** Values that stand for a secret: a variable, a placeholder, a redaction, an example; or a pattern that checks one. */
const standsForSecret =
  /^(?:[$%{<*#@]|\^[[(\\]|\/\/|process\.env|os\.environ|import\.meta|env\.|secrets?[.[])/iu;
const holdsPlaceholder = /\$\{|\{\{|\*{3}|x{4}|X{4}|\.{3}|redacted|example|placeholder|change.?me|your[_-]/iu;
const property = /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/u;
/** "UTF-16" and "SHA-256" follow "secret" in sentences. */
const standard =
  /^(?:aes|base|ecma|ed|hmac|ieee|iso|md|oauth|pkcs|rfc|rsa|sha|tls|utf)[-#_]?\d+(?:[-.][a-z\d]{1,4})*$/iu;
/** "privateKey: Uint8Array" and "secret: u8" are declarations. */
const typeName = /^(?:big)?(?:u?int|float|[iuf])(?:8|16|32|64|128)(?:clamped)?(?:array|list|_t)?$/iu;
const dateOrVersion = /^(?:v?\d+(?:\.\d+)+|\d{4}-\d\d-\d\d)/u;

/** Returns true if a value looks like a secret rather than a word, a name or a variable; see also `placeholderIn`. */
export function isPlausible(
  value: string,
  { letters, digits, others, turns }: Profile,
  strength: Strength,
  isQuoted: boolean,
): boolean {
  if (value.length < minLength[strength] || letters === 0) return false;
  // What needs no pattern comes first: most values after a name are words.
  if (strength === "strong") {
    // "password: hunter2" counts; "password: required", a path and a property access do not.
    if (digits === 0 && !(isQuoted && others > 1)) return false;
    if (turns < 4 && /[\\/]/u.test(value)) return false;
    if (property.test(value)) return false;
  } else {
    if (!isVaried({ digits, turns }, strength)) return false;
    if (value.includes("://") || entropy(value) < 3) return false;
  }
  return !(
    standsForSecret.test(value) ||
    dateOrVersion.test(value) ||
    standard.test(value) ||
    typeName.test(value)
  );
}

/** Returns where a placeholder, a variable or a redaction begins in a value, which is then not a secret; -1 if none does. */
export function placeholderIn(value: string): number {
  return value.search(holdsPlaceholder);
}

/** Returns false for a text that is not random. The same holds for any end of it: it has no more digits or turns. */
export function isVaried({ digits, turns }: Pick<Profile, "digits" | "turns">, strength: Strength): boolean {
  return strength === "strong" || (digits >= 2 && turns >= (strength === "weak" ? 4 : 6));
}

export interface Profile {
  readonly letters: number;
  readonly digits: number;
  /** Characters that are neither letters nor digits, except word separators. */
  readonly others: number;
  /**
   * The number of changes between letters and digits, and from a lower-case to a capital letter: few in names, many
   * in random texts.
   */
  readonly turns: number;
}

export function profileOf(value: string): Profile {
  let letters = 0;
  let digits = 0;
  let others = 0;
  let turns = 0;
  let last = 0;
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    const kind =
      code >= 48 && code <= 57 ? 1 : code >= 97 && code <= 122 ? 2 : code >= 65 && code <= 90 ? 3 : 0;
    if (kind === 1) digits++;
    else if (kind > 1) letters++;
    else if (code !== 45 && code !== 95 && code !== 46 && code !== 32) others++;
    if (kind === 0) continue;
    if (last !== 0 && last !== kind && !(last === 3 && kind === 2)) turns++;
    last = kind;
  }
  return { letters, digits, others, turns };
}

const counts = new Uint16Array(128);

/** Returns the Shannon entropy of the characters, in bits per character; those outside of ASCII count as one. */
export function entropy(value: string): number {
  const { length } = value;
  if (length === 0) return 0;
  counts.fill(0);
  for (let at = 0; at < length; at++) {
    const code = value.charCodeAt(at) & 127;
    counts[code] = (counts[code] as number) + 1;
  }
  let sum = 0;
  for (let code = 0; code < 128; code++) {
    const count = counts[code] as number;
    if (count > 1) sum += count * Math.log2(count);
  }
  return Math.log2(length) - sum / length;
}

/** Returns true if the password in a URL is not a placeholder. */
export function isPassword(value: string): boolean {
  if (value.length < 4 || standsForSecret.test(value) || holdsPlaceholder.test(value)) return false;
  if (
    /^(?:pass(?:word|wd)?|pwd|secret|token|user(?:name)?|key|admin|root|postgres|mysql|guest|test)$/iu.test(
      value,
    )
  )
    return false;
  return value.length >= 8 || /[^a-z]/iu.test(value);
}
