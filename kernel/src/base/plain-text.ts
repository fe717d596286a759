/**
 * Text from an extension or a file, safe to show at a terminal or in a client's message: control codes are shown
 * as their pictures (ESC as ␛) instead of being obeyed, and what would reorder the text around it (bidirectional
 * overrides and isolates) or break a line in disguise is dropped. Line feeds and tabs stay.
 */
export function plainText(text: string): string {
  return text.replace(controls, picture).replace(reordering, "");
}

// oxlint-disable-next-line no-control-regex -- control codes are what this is about
const controls = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;
const reordering = /[\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

function picture(control: string): string {
  const code = control.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? "\u2421" : "\ufffd";
}
