/**
 * Text from an extension or a file, safe to show at a terminal or in a client's message: control codes are
 * shown as their pictures (ESC as ␛) instead of being obeyed, and what is invisible or reorders the text
 * around it (bidirectional marks, zero-width, tag and supplementary variation characters) is shown by its code, so that two names
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

/**
 * As `plainLine`, for a message that an editor shows by itself: some make links of `[text](address)` there, and
 * an address may be a command of theirs.
 */
export function plainMessage(text: string): string {
  return withoutLinks(plainLine(text));
}

/** Some editors draw `$(name)` in a lens or a label as an icon of theirs; every character stays readable. */
export function withoutIcons(text: string): string {
  return text.replaceAll("$(", "$ (");
}

/** Takes a Markdown link's form from it; every character stays readable. */
export function withoutLinks(text: string): string {
  return text.replaceAll("](", "] (");
}

// oxlint-disable-next-line no-control-regex -- control codes are what this is about
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/**
 * What Unicode says is drawn as nothing or turns the text around; kept: the joiners, and the variation marks of emoji
 * (U+FE00 to U+FE0F) and of Mongolian.
 */
const invisible =
  // oxlint-disable-next-line no-misleading-character-class -- single characters are meant
  /[[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2028\u2029\ufff9-\ufffb]--[\u200c\u200d\ufe00-\ufe0f\u180b-\u180d\u180f]]/gv;
const lineBreak = /[\r\n\t\v\f\u0085\u2028\u2029]/;

function picture(control: string): string {
  const code = control.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
}

function codeOf(character: string): string {
  return `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`;
}
