import { oneLine } from "./foreign.ts";

/** Characters of a notification; systems show fewer. */
const maxLength = 200;

/** Returns the code (OSC 9) with which a terminal shows a notification of the operating system. */
export function systemNotification(text: string): string {
  const words = oneLine(text.slice(0, 4 * maxLength))
    .slice(0, maxLength)
    .toWellFormed();
  // A terminal would read words that begin with a number as another command.
  return `\u001b]9;Lares: ${words}\u0007`;
}
