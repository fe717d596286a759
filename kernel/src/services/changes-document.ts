import { effectWords, hasContent } from "../base/vocabulary/effect-words.ts";
import { isLaresError } from "../base/errors.ts";
import { requestedByLines } from "../base/vocabulary/principal.ts";
import { visibleText } from "../base/visible-text.ts";
import type { Action, Effect } from "../base/vocabulary/action.ts";
import type { ActionService } from "./ports.ts";

/** Maximum characters of a document of changes; a larger content has its own command. */
const maxDocumentCharacters = 16 * 1024 * 1024;

interface ChangesDocument {
  /** Lines of text in which every character of the changes is visible; see `visibleText`. */
  readonly text: string;
  /** False if the content of an effect is missing because it could not be read. */
  readonly isComplete: boolean;
}

/**
 * Describes all changes of an action, or one of its effects: what each does in the kernel's words; the agent's
 * words, marked as such; and each content as a diff. A content without a diff is represented by its hashes and the
 * command that prints it.
 */
export async function changesDocument(
  actions: Pick<ActionService, "diff">,
  action: Action,
  only?: number,
): Promise<ChangesDocument> {
  const { id, effects } = action;
  const isWanted = (index: number): boolean => only === undefined || only === index;
  const lines = [
    ...effects.filter((_effect, index) => isWanted(index)).map(effectWords),
    "",
    ...requestedByLines(action).map((sentence) => visibleText(sentence)),
    `Impact ${action.impact_score.toFixed(2)}. Proposed by ${visibleText(action.agent)}, in its own words:`,
    ...[action.title, action.reason].filter(Boolean).map((words) => `> ${visibleText(words)}`),
  ];
  let characters = 0;
  let isComplete = true;
  for (const [index, effect] of effects.entries()) {
    if (!isWanted(index) || !hasContent(effect)) continue;
    const content = await contentOf(actions, id, index, effect, maxDocumentCharacters - characters);
    characters += content.lines.reduce((sum, line) => sum + line.length + 1, 0);
    isComplete &&= content.isRead;
    lines.push("", `Effect ${index}: ${effectWords(effect)}`, ...content.lines);
  }
  lines.push("", `Action ${id}`, `Digest ${action.digest}`);
  return { text: `${lines.join("\n")}\n`, isComplete };
}

interface Content {
  readonly lines: readonly string[];
  readonly isRead: boolean;
}

async function contentOf(
  actions: Pick<ActionService, "diff">,
  id: string,
  index: number,
  effect: Effect,
  room: number,
): Promise<Content> {
  let diff = effect.diff ?? null;
  try {
    if (room > 0) diff ??= await actions.diff(id, index);
  } catch (error) {
    if (!isLaresError(error)) throw error;
    return { lines: [`It cannot be shown: ${visibleText(error.message)}`], isRead: false };
  }
  if (diff !== null && diff.length <= room) return { lines: diffLines(diff), isRead: true };
  if (room <= 0 || diff !== null)
    return {
      lines: [`Not shown here. See it with: lares actions show ${id} --effect ${index}`],
      isRead: false,
    };
  return {
    lines: ["No text, or more than 256 KiB of it, so there is no diff.", ...sidesOf(id, index, effect)],
    isRead: true,
  };
}

/** Returns only the hunks, because the lines before them repeat the path. */
function diffLines(diff: string): string[] {
  const start = diff.startsWith("@@") ? 0 : diff.indexOf("\n@@") + 1;
  if (start === 0 && !diff.startsWith("@@")) return [];
  return diff
    .slice(start)
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => line.slice(0, 1) + visibleText(line.slice(1)));
}

function sidesOf(id: string, index: number, effect: Effect): string[] {
  return (["before", "after"] as const).flatMap((side) =>
    effect[side] === null || (side === "before" && !effect.kind.startsWith("file."))
      ? []
      : [`${side}: ${effect[side]}`, `  lares actions content ${id} --effect ${index} --side ${side} > FILE`],
  );
}
