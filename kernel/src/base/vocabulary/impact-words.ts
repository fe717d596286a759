import { countChanges, type EffectFacts } from "./effect-words.ts";

type ImpactSize = "small" | "medium" | "large";

/** The impact scores from which a change counts as medium and as large. */
const mediumFrom = 0.3;
const largeFrom = 0.7;

export function impactSize(score: number): ImpactSize {
  if (score >= largeFrom) return "large";
  return score >= mediumFrom ? "medium" : "small";
}

/** True if a person should look at the whole change, on its own, before approving it. */
export function needsCare(action: {
  readonly impact_score: number;
  readonly effects: readonly EffectFacts[];
}): boolean {
  return (
    impactSize(action.impact_score) === "large" || action.effects.some(({ kind }) => kind === "file.delete")
  );
}

/** Summarizes the size of a change: "Deletes 1 file. Changes 1 file: adds 3 lines, removes 1." Deletions come first. */
export function extentWords(effects: readonly EffectFacts[]): string {
  const of = (...kinds: readonly EffectFacts["kind"][]): readonly EffectFacts[] =>
    effects.filter(({ kind }) => kinds.includes(kind));
  const written = of("file.write", "file.edit");
  const created = written.filter(({ before }) => before === null);
  const changed = written.filter(({ before }) => before !== null);
  return [
    clause("Deletes", of("file.delete").length, "file"),
    clause("Moves", of("file.move").length, "entry", "entries"),
    withLines(clause("Changes", pathsOf(changed), "file"), changed),
    withLines(clause("Creates", pathsOf(created), "file"), created),
    clause("Creates", of("folder.create").length, "folder"),
    clause("Adds", of("tag.add").length, "tag"),
    clause("Removes", of("tag.remove").length, "tag"),
    clause("Sets", of("field.set").length, "field"),
    clause("Writes", of("sidecar.write").length, "sidecar"),
    otherNames(pathsOf(changed), pathsOf(changed.filter((effect) => effect.hard_link === true))),
  ]
    .filter((sentence) => sentence !== "")
    .map((sentence) => `${sentence}.`)
    .join(" ");
}

/** Returns the subject of a change for a list: "14 files, deletes 1", or its path if it concerns only one. */
export function subjectOf(
  effects: readonly EffectFacts[],
): { readonly path: string } | { readonly words: string } {
  const subjects = [...new Set(effects.map(({ path, from }) => from ?? path))];
  const [only] = subjects;
  if (only !== undefined && subjects.length === 1) return { path: only };
  const deleted = effects.filter(({ kind }) => kind === "file.delete").length;
  return { words: `${counted(subjects.length, "file")}${deleted === 0 ? "" : `, deletes ${deleted}`}` };
}

/** Returns the folder that contains every path of the change; empty for the workspace itself. */
export function folderOf(effects: readonly EffectFacts[]): string {
  const folders = effects
    .flatMap(({ path, from }) => [path, ...(from === undefined ? [] : [from])])
    .map((path) => path.split("/").slice(0, -1));
  const [first = []] = folders;
  const length = first.findIndex((name, index) => folders.some((folder) => folder[index] !== name));
  return first.slice(0, length === -1 ? first.length : length).join("/");
}

/** Warns of files that are changed under one of their names only. */
function otherNames(changed: number, linked: number): string {
  if (linked === 0) return "";
  if (linked > 1) return `${linked} of the files have other names (hard links), which keep the old text`;
  return `${changed === 1 ? "This file" : "1 of the files"} has another name (hard link), which keeps the old text`;
}

function clause(verb: string, count: number, noun: string, plural?: string): string {
  return count === 0 ? "" : `${verb} ${counted(count, noun, plural)}`;
}

function withLines(sentence: string, effects: readonly EffectFacts[]): string {
  if (sentence === "" || effects.some(({ diff }) => diff === undefined)) return sentence;
  let [added, removed] = [0, 0];
  for (const { diff = "" } of effects) {
    const changes = countChanges(diff);
    added += changes.added;
    removed += changes.removed;
  }
  if (added === 0 && removed === 0) return sentence;
  if (removed === 0) return `${sentence}: adds ${counted(added, "line")}`;
  if (added === 0) return `${sentence}: removes ${counted(removed, "line")}`;
  return `${sentence}: adds ${counted(added, "line")}, removes ${removed}`;
}

function pathsOf(effects: readonly EffectFacts[]): number {
  return new Set(effects.map(({ path }) => path)).size;
}

function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}
