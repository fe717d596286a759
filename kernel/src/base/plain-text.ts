/**
 * Makes text from an extension or a file safe to show in a terminal or in a client's message. Control codes are shown
 * as symbols (ESC as ␛), so that they have no effect. Characters that are invisible or reorder the text around them
 * (bidirectional marks, zero-width, tag and supplementary variation characters) are shown by their codes, so that two
 * names that look alike can be told apart. Line feeds and tabs stay; see `plainLine`. The joiners that emoji and many
 * scripts need (U+200C, U+200D) stay too.
 */
export function plainText(text: string): string {
  return text.toWellFormed().replace(controls, picture).replace(invisible, codeOf);
}

/** As `plainText`, on one line: each run of line breaks and tabs, with the spaces around it, becomes one space. */
export function plainLine(text: string): string {
  return plainText(text.replace(/\s+/g, (space) => (lineBreak.test(space) ? " " : space)));
}

/**
 * As `plainLine`, for a message that the editor itself renders: some editors turn `[text](address)` into a link, and
 * the address may be one of their commands.
 */
export function plainMessage(text: string): string {
  return withoutLinks(plainLine(text));
}

/** Some editors draw `$(name)` in a lens or a label as an icon. Breaks that form; every character stays readable. */
export function withoutIcons(text: string): string {
  return text.replaceAll("$(", "$ (");
}

/** Breaks the form of a Markdown link; every character stays readable. */
function withoutLinks(text: string): string {
  return text.replaceAll("](", "] (");
}

// oxlint-disable-next-line no-control-regex -- control codes are what this is about
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
/**
 * Characters that Unicode defines as invisible or as reordering. Excluded: the joiners, and the variation selectors of
 * emoji (U+FE00 to U+FE0F) and of Mongolian.
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
