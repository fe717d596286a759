import { effectWords } from "../../base/vocabulary/effect-words.ts";
import { plainMessage, withoutIcons } from "../../base/plain-text.ts";
import { quotedText, visibleText } from "../../base/visible-text.ts";
import type { Action, Effect } from "../../base/vocabulary/action.ts";
import { touches } from "../../services/proposed-changes.ts";

/** Maximum length of an action's title in a message about its result. Characters. */
const maxTitleCharacters = 60;
/** Maximum number of effects that a line names; further ones are only counted. */
const maxNamedEffects = 3;

/** Returns an agent's title on one short line, for an action that was decided. Contains no icon syntax of editors. */
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

/**
 * Returns an action as one line for a decision: its effects in the kernel's words, those that touch `path` first,
 * then the agent's title, quoted.
 */
export function decisionLine(action: Action, path?: string): string {
  const here = action.effects.filter((effect) => path !== undefined && touches(effect, path));
  const all = [...here, ...action.effects.filter((effect) => !here.includes(effect))];
  const named = all.slice(0, maxNamedEffects).map((effect) => `${effectWords(effect)}.`);
  const more = moreWords(all.slice(named.length));
  return inMessage([...named, ...more, agentSays(action)].join(" "));
}

/** Returns `And 4 more changes (deletes 1, moves 2).`; deletions and moves are always counted separately. */
function moreWords(effects: readonly Effect[]): string[] {
  if (effects.length === 0) return [];
  const countOf = (wanted: Effect["kind"]): number => effects.filter(({ kind }) => kind === wanted).length;
  const [deletes, moves] = [countOf("file.delete"), countOf("file.move")];
  const gone = [
    ...(deletes > 0 ? [`deletes ${deletes}`] : []),
    ...(moves > 0 ? [`moves ${moves}`] : []),
  ].join(", ");
  const changes = `${effects.length} more ${effects.length === 1 ? "change" : "changes"}`;
  return [`And ${changes}${gone === "" ? "" : ` (${gone})`}.`];
}

/** Returns the effects of an action that change the file at `path`; null if all of them do. */
export function partOf(
  { effects }: Action,
  path: string,
): { readonly indices: readonly number[]; readonly effects: Effect[] } | null {
  const indices = effects.flatMap((effect, index) => (touches(effect, path) ? [index] : []));
  if (indices.length === 0 || indices.length === effects.length) return null;
  return { indices, effects: effects.filter((effect) => touches(effect, path)) };
}

/** Returns `dev.lares.notes says: "Fix a typing error"`. */
function agentSays({ agent, title }: Action): string {
  return `${visibleText(agent)} says: ${quotedText(title)}`;
}

/**
 * Escapes a text for a message or label of an editor: some editors turn `[text](address)` into a link and `$(name)`
 * into an icon. The opening parenthesis is shown by its code, so that no character is lost.
 */
export function inMessage(text: string): string {
  return text.replaceAll("](", "]<U+0028>").replaceAll("$(", "$<U+0028>");
}
