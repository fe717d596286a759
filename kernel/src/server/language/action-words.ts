import { effectWords } from "../../base/effect-words.ts";
import { plainMessage, withoutIcons } from "../../base/plain-text.ts";
import { quotedText, visibleText } from "../../base/visible-text.ts";
import type { Action, Effect } from "../../base/vocabulary/action.ts";
import { touches } from "../../services/proposed-changes.ts";

/** Of an action's title where it is part of a line that says what became of it. */
const maxTitleCharacters = 60;
/** Effects that a line names; of more, so many are named and the others counted. */
const maxNamedEffects = 3;

/** An agent's title on one short line, for what has been decided; no icon of an editor's comes from it. */
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
 * An action on one line that a person decides by: what it does, in the kernel's words, with what touches `path` first; then
 * the agent's title, as the agent's.
 */
export function decisionLine(action: Action, path?: string): string {
  const here = action.effects.filter((effect) => path !== undefined && touches(effect, path));
  const all = [...here, ...action.effects.filter((effect) => !here.includes(effect))];
  const named = all.slice(0, maxNamedEffects).map((effect) => `${effectWords(effect)}.`);
  const more = moreWords(all.slice(named.length));
  return inMessage([...named, ...more, agentSays(action)].join(" "));
}

/** `And 4 more changes (deletes 1, moves 2).`: what goes away is not passed over in a count. */
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

/** Returns the effects of an action that change the file at `path`; null where all of them do. */
export function partOf(
  { effects }: Action,
  path: string,
): { readonly indices: readonly number[]; readonly effects: Effect[] } | null {
  const indices = effects.flatMap((effect, index) => (touches(effect, path) ? [index] : []));
  if (indices.length === 0 || indices.length === effects.length) return null;
  return { indices, effects: effects.filter((effect) => touches(effect, path)) };
}

/** `dev.lares.notes says: "Fix a typing error"` */
function agentSays({ agent, title }: Action): string {
  return `${visibleText(agent)} says: ${quotedText(title)}`;
}

/**
 * Text of ours with visible foreign text in it, for a message or a label of an editor: some make a link of `[text](address)`
 * and an icon of `$(name)`. The bracket that would is shown by its code, so that nothing is lost.
 */
export function inMessage(text: string): string {
  return text.replaceAll("](", "]<U+0028>").replaceAll("$(", "$<U+0028>");
}
