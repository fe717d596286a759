const digits = "0123456789";
const lowercase = "abcdefghijklmnopqrstuvwxyz";
const uppercase = lowercase.toUpperCase();
const alnum = digits + lowercase + uppercase;

/** The characters of a token, by the name of the alphabet in rules. */
const characters = {
  hex: `${digits}abcdefABCDEF`,
  lower: digits + lowercase,
  upper: digits + uppercase,
  alnum,
  word: `${alnum}_`,
  id: `${alnum}_-`,
  dotted: `${alnum}_-.`,
  path: `${alnum}_-./@`,
  base64: `${alnum}_-+/=`,
  base64url: `${alnum}_-+/=.~`,
} as const;

type Alphabet = keyof typeof characters | "any";

/** Characters that end an unquoted value. */
const closing = "\"'`,;<>()[]{}\\|";

/** For each character code below 128: whether the character belongs to the alphabet. All other characters do not. */
export type CharacterSet = Uint8Array;

const sets = new Map<Alphabet, CharacterSet>(
  (Object.keys(characters) as (keyof typeof characters)[]).map((name) => [name, setOf(characters[name])]),
);
const any = new Uint8Array(128).fill(1, 33, 127);
for (const character of closing) any[character.charCodeAt(0)] = 0;
sets.set("any", any);

/** Returns the alphabet of this name, or null. */
export function characterSet(name: string): CharacterSet | null {
  return sets.get(name as Alphabet) ?? null;
}

export const wordCharacters = setOf(characters.word);
export const valueCharacters: CharacterSet = any;

/** Returns the index of the first character from `from` on that is not in the set. */
export function endOfRun(text: string, from: number, set: CharacterSet): number {
  const end = text.length;
  let at = from;
  while (at < end && isIn(set, text.charCodeAt(at))) at++;
  return at;
}

export function isIn(set: CharacterSet, code: number): boolean {
  return code < 128 && set[code] === 1;
}

/** Returns the set of these characters. */
export function setOf(text: string): CharacterSet {
  const set = new Uint8Array(128);
  for (const character of text) set[character.charCodeAt(0)] = 1;
  return set;
}
