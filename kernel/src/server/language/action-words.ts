import { plainMessage, plainText, withoutIcons, withoutLinks } from "../../base/plain-text.ts";
import type { Action } from "../../base/vocabulary/action.ts";

/** Of an action's title where it is part of a line of ours. */
export const maxTitleCharacters = 60;
/** Of a text that a message shows. */
const maxMessageCharacters = 8_000;

/** An agent's title on one short line, for lenses and menus; no icon of an editor's comes from it. */
export function shortTitle({ title }: Action): string {
  const plain = withoutIcons(plainMessage(title).trim());
  const characters = Array.from(plain);
  return characters.length <= maxTitleCharacters
    ? plain
    : `${characters.slice(0, maxTitleCharacters).join("")}…`;
}

export function changeCount({ effects }: Action): string {
  return effects.length === 1 ? "1 change" : `${effects.length} changes`;
}

/** The diffs as one text; what is too long for a message is cut, with the count of what is left out. */
export function changesText(action: Action, effect?: number): string {
  const shown = action.effects.filter((_effect, index) => effect === undefined || index === effect);
  const text = shown
    .map(({ summary, diff }) => [plainMessage(summary), ...(diff ?? "").split("\n").map(diffLine)].join("\n"))
    .join("\n");
  return text.length <= maxMessageCharacters
    ? text
    : `${text.slice(0, maxMessageCharacters)}\n… ${text.length - maxMessageCharacters} more characters`;
}

function diffLine(line: string): string {
  return withoutLinks(plainText(line));
}
