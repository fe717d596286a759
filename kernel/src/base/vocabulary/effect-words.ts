import { quotedText } from "../visible-text.ts";
import type { Effect } from "./action.ts";

/** The fields that say what an effect does; lists and notifications carry them too. */
export type EffectFacts = Omit<Effect, "before" | "after"> & Partial<Pick<Effect, "before" | "after">>;

/**
 * Describes an effect in the kernel's own words: `Edits "build.sh" (+1 −1)`. Every path and name is quoted whole, with each
 * character visible, in quotation marks that it cannot close, so no name can pass for a part of the sentence.
 */
export function effectWords(effect: EffectFacts): string {
  const path = quotedText(effect.path);
  switch (effect.kind) {
    case "file.write":
      return `${effect.before === null ? "Creates" : "Overwrites"} ${path}${extentOf(effect)}`;
    case "file.edit":
      return `Edits ${path}${extentOf(effect)}`;
    case "file.delete":
      return `Deletes ${path}${extentOf(effect)}`;
    case "file.move":
      return `Moves ${quotedText(effect.from ?? "")} to ${path}${sizesOf(effect)}`;
    case "folder.create":
      return `Creates the folder ${path}`;
    case "tag.add":
      return `Adds the tag ${quotedText(effect.tag ?? "")} to ${path}`;
    case "tag.remove":
      return `Removes the tag ${quotedText(effect.tag ?? "")} from ${path}`;
    case "field.set": {
      const field = quotedText(`${effect.namespace ?? ""}.${effect.key ?? ""}`);
      return effect.after === null
        ? `Removes the field ${field} of ${path}`
        : `Sets the field ${field} of ${path}${lineCount(effect)}`;
    }
    case "sidecar.write":
      return `Writes the sidecar ${quotedText(effect.sidecar ?? "")} of ${path}${lineCount(effect)}`;
  }
}

/** Describes every effect, one sentence each: `Edits "build.sh" (+1 −1). Deletes "scratch.md".` */
export function actionWords(effects: readonly EffectFacts[]): string {
  return effects.map((effect) => `${effectWords(effect)}.`).join(" ");
}

/** True if the effect has a content that its sentence does not show. */
export function hasContent({ kind, after }: EffectFacts): boolean {
  switch (kind) {
    case "file.write":
    case "file.edit":
    case "file.delete":
      return true;
    case "field.set":
    case "sidecar.write":
      return after !== null;
    case "file.move":
    case "folder.create":
    case "tag.add":
    case "tag.remove":
      return false;
  }
}

/** Counts the lines that a unified diff of one file adds and removes. */
export function countChanges(diff: string): { added: number; removed: number } {
  let [added, removed, isInHunk] = [0, 0, false];
  for (let start = 0; start < diff.length;) {
    if (diff.startsWith("@@", start)) isInHunk = true;
    else if (isInHunk && diff[start] === "+") added += 1;
    else if (isInHunk && diff[start] === "-") removed += 1;
    const end = diff.indexOf("\n", start);
    start = end === -1 ? diff.length : end + 1;
  }
  return { added, removed };
}

function extentOf(effect: EffectFacts): string {
  return effect.diff === undefined ? sizesOf(effect) : lineCount(effect);
}

function lineCount({ diff }: EffectFacts): string {
  if (diff === undefined) return "";
  const { added, removed } = countChanges(diff);
  return ` (+${added} −${removed})`;
}

/** Returns what the kernel's summary has in parentheses after the paths: sizes, or a folder's number of files. */
function sizesOf({ kind, path, from, summary }: EffectFacts): string {
  const starts =
    kind === "file.move" ? [`Move ${from ?? ""} to ${path}`] : summaryVerbs.map((verb) => `${verb} ${path}`);
  const start = starts.find((each) => summary.startsWith(`${each} (`));
  return start === undefined ? "" : summary.slice(start.length);
}

const summaryVerbs = ["Create", "Overwrite", "Edit", "Delete"];
