import { expect } from "vitest";

const ESC = "\u001b";
/**
 * Text that a terminal would execute, that hides or reorders, that looks like a prompt, or that an editor may turn into
 * a link.
 */
export const HOSTILE_PIECES = {
  clear: `${ESC}[2J${ESC}[1;31m`,
  title: `${ESC}]0;pwned\u0007`,
  clipboard: `${ESC}]52;c;ZXZpbA==\u0007`,
  link: `${ESC}]8;;http://evil.invalid${ESC}\\click${ESC}]8;;${ESC}\\`,
  report: `${ESC}P1$q${ESC}\\${ESC}[6n`,
  eightBit: "\u009b2J\u009d0;pwned\u009c\u0090x\u009c",
  overwrite: "\b\b\b\b\rApproved\u007f",
  prompt: "\n\n? Carry it out? y\r\n✓ Approve\n",
  lineBreaks: "\u000b\u000c\u0085\u2028\u2029",
  bidi: "\u202egnp.exe\u202c\u2066x\u2069\u200f",
  invisible: "\u200b\u2060\ufeff\u00ad\u{e0041}",
  markdown: "[approve](command:lares.approve) ![x](http://evil.invalid/x)",
  html: "<img src=x onerror=alert(1)>",
} as const;
export const HOSTILE = Object.values(HOSTILE_PIECES).join("");

// oxlint-disable-next-line no-control-regex -- these must not be in the output
const obeyed = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/u;
const hiding = /[\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\u{e0000}-\u{e007f}]/u;

/** Checks text for a terminal: no terminal codes, nothing hidden, and no line that a stranger began. */
export function expectHarmless(text: string, what: string): void {
  const bad = obeyed.exec(text) ?? hiding.exec(text);
  const where = bad === null ? "" : JSON.stringify(text.slice(Math.max(0, bad.index - 80), bad.index + 20));
  expect(bad, `${what}: ${where}`).toBeNull();
  const forged = text.split("\n").find((line) => /^[│\s]*(\? Carry it out|✓ Approve)/.test(line));
  expect(forged, what).toBeUndefined();
}

/** Entering and leaving the full screen, the cursor, and the ends of lines and of the screen. */
const screenCodes = ["?1049h", "?25l", "H", "K", "J", "?25h", "?1049l"].map((code) => `${ESC}[${code}`);

/**
 * Removes what Lares itself writes to a terminal: line ends, the removal of the bottom line, a question's position, the
 * codes of a full screen.
 */
export function withoutOwnCodes(shown: string): string {
  const text = screenCodes.reduce((left, code) => left.replaceAll(code, ""), shown);
  return text.replaceAll("\r\u001b[2K", "").replaceAll("\u001b[1G\u001b[0J", "").replaceAll("\r\n", "\n");
}
