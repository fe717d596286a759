/** Returns a text without secrets: each is replaced by `[redacted: name]`. Agents write the texts: none may make it slow. */
export type Redact = (text: string) => string;

/** Characters of a name or an id in an entry. */
export const maxNameLength = 256;
/** The characters dropped at the cut of a text: no pattern would recognize half a secret there. */
export const cutMargin = 2048;

/** Redacts a text together with its name, because a pattern may recognize a secret only by it, as in `password: …`. */
export function redactedText(key: string, value: string, redact: Redact): string {
  const prefix = `${key.slice(-maxNameLength)}: `;
  const named = redact(prefix + value);
  if (named.startsWith(prefix)) return named.slice(prefix.length);
  const start = named.indexOf("[redacted: ");
  const end = start === -1 ? -1 : named.indexOf("]", start);
  return end === -1 ? named : named.slice(start, end + 1);
}

export function cut(text: string, maxLength: number, wholeLength = text.length): string {
  if (wholeLength <= maxLength) return text;
  const note = `… [${wholeLength} characters, cut]`;
  return text.slice(0, maxLength - note.length).toWellFormed() + note;
}
