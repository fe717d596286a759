import { effectWords } from "../../../kernel/src/base/vocabulary/effect-words.ts";
import { visibleText } from "../../../kernel/src/base/visible-text.ts";
import { decidedTitle } from "../model/decided.ts";
import { count } from "../model/text.ts";
import { impactSentence, levelWords, weightOf } from "../model/weight.ts";
import type { Action, Effect } from "../protocol.ts";

/** The number of effects that the text about an action names; the editors beside it show the others. */
const maxNamed = 200;
/** About the width of half an editor; a diff does not wrap lines. */
const maxLineCharacters = 44;

/**
 * Describes an action's result, its reason and its size: the first text beside its frozen diffs. The agent's text is
 * indented and wrapped, so that none of its lines can pass for one of this client.
 */
export function describeAction(action: Action, agent: string): string {
  const { title, reason, error, rejected_reason, rule, effects, receipt } = action;
  const named = effects.slice(0, maxNamed).map((effect, index) => {
    const isLeftOut = receipt !== undefined && !receipt.applied.includes(index);
    return `${effectWords(effect)}${isLeftOut ? " (left out)" : ""}`;
  });
  const more = effects.length - named.length;
  const said = (words: string, text: string | undefined): string[] =>
    text === undefined || text.trim() === "" ? [] : [`${words}\n${wrapped(text.trimEnd())}`];
  const does = [...named, ...(more > 0 ? [`and ${count(more, "more change")}`] : [])].map(wrapped);
  return document(
    `${decidedTitle(action)}.\n${levelWords[weightOf(action).level]}. ${impactSentence(effects)}`,
    ...said("What went wrong:", error),
    ...said("Why it was rejected:", rejected_reason),
    ...said("The rule that decided:", rule?.sentence),
    ...said(`What ${visibleText(agent)} says:`, title),
    ...said("Its reason:", reason),
    ["What it does:", ...does].join("\n"),
  );
}

function wrapped(text: string): string {
  const lines: string[] = [];
  for (const line of text.split(/\r?\n/)) {
    let rest = visibleText(line);
    while (rest.length > maxLineCharacters) {
      const blank = rest.lastIndexOf(" ", maxLineCharacters);
      // A path is never broken, so that it can be copied from here.
      const end = blank > 0 ? blank : rest.indexOf(" ", maxLineCharacters);
      if (end < 0) break;
      lines.push(rest.slice(0, end));
      rest = rest.slice(end + 1);
    }
    lines.push(rest);
  }
  return lines.map((line) => (line === "" ? "" : `    ${line}`)).join("\n");
}

/**
 * Describes an effect without two contents as a text document. Names and values come from an agent: control codes and
 * characters that reorder text are shown by their codes.
 */
export function describeEffect(effect: Effect, stored?: string): string {
  const path = `    ${visibleText(effect.path)}`;
  switch (effect.kind) {
    case "folder.create":
      return document("Create the folder", path);
    case "file.move":
      return document(
        "Move",
        `    ${visibleText(effect.from ?? "")}`,
        "to",
        path,
        "Its content stays as it is.",
      );
    case "tag.add":
      return document(`Add the tag “${visibleText(effect.tag ?? "")}” to`, path);
    case "tag.remove":
      return document(`Take the tag “${visibleText(effect.tag ?? "")}” from`, path);
    case "field.set": {
      const field = visibleText(`${effect.namespace ?? ""}.${effect.key ?? ""}`);
      return effect.value === null
        ? document(`Remove the field ${field} of`, path)
        : document(`Set the field ${field} of`, path, "to", indented(stored ?? json(effect.value)));
    }
    case "sidecar.write":
      return document(
        `Write the sidecar “${visibleText(effect.sidecar ?? "")}” of`,
        path,
        "with",
        indented(stored ?? json(effect.value)),
      );
    case "file.write":
    case "file.edit":
    case "file.delete":
      return document(visibleText(effect.summary));
  }
}

function document(...parts: readonly string[]): string {
  return `${parts.join("\n\n")}\n`;
}

function json(value: unknown): string {
  return value === undefined ? "" : JSON.stringify(value, null, 2);
}

function indented(text: string): string {
  return text
    .split("\n")
    .map((line) => `    ${visibleText(line)}`)
    .join("\n");
}
