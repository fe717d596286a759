/**
 * Text from an extension or a file, safe to show at a terminal or in a client's message: control codes are
 * shown as their pictures (ESC as ␛) instead of being obeyed, and what is invisible or reorders the text
 * around it (bidirectional marks, zero-width and tag characters) is shown by its code, so that two names
 * that look alike do not pass for each other. Line feeds and tabs stay; see `plainLine`.
 * The joiners that emoji and many scripts need (U+200C, U+200D) stay too.
 */
export function plainText(text: string): string {
  return text.toWellFormed().replace(controls, picture).replace(invisible, codeOf);
}

/** As `plainText`, on one line: each run of line breaks and tabs, with the spaces around it, is one space. */
export function plainLine(text: string): string {
  return plainText(text.replace(/\s+/g, (space) => (lineBreak.test(space) ? " " : space)));
}

// oxlint-disable-next-line no-control-regex -- control codes are what this is about
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
const invisible =
  /\u034f|[\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
const lineBreak = /[\r\n\t\v\f\u0085\u2028\u2029]/;

function picture(control: string): string {
  const code = control.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
}

function codeOf(character: string): string {
  return `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`;
}
