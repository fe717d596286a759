import type { Action, Effect } from "../protocol.ts";

/** An action on this many files is large, whatever its score. */
export const largeFiles = 10;
const mediumScore = 0.3;
const largeScore = 0.7;

/** How closely a person should look before approving an action. */
interface Weight {
  /** 1: small, 2: medium, 3: large. */
  readonly level: 1 | 2 | 3;
  /** The safe next step is to look at it; approving is the step after that. */
  readonly showsFirst: boolean;
  /** Never part of a batch: it is approved on its own, after its deletions are named. */
  readonly isAlone: boolean;
}

/** The one rule by which pages, trees, lenses, notifications and batches choose their default. */
export function weightOf({ effects, impact_score }: Pick<Action, "effects" | "impact_score">): Weight {
  const deletes = effects.some(({ kind }) => kind === "file.delete");
  const isLarge = impact_score >= largeScore || fileCount(effects) >= largeFiles;
  const level = isLarge ? 3 : impact_score >= mediumScore || deletes ? 2 : 1;
  return { level, showsFirst: level > 1, isAlone: isLarge || deletes };
}

/** Returns `medium change`: how much an action changes, in the levels of the review page. */
export function weightText(action: Pick<Action, "effects" | "impact_score">): string {
  return `${levelWords[weightOf(action).level].toLowerCase()} change`;
}

export const levelWords = { 1: "Small", 2: "Medium", 3: "Large" } as const;

/** Returns the number of entries that the effects touch. */
export function fileCount(effects: readonly Effect[]): number {
  return new Set(effects.map(({ path }) => path)).size;
}

const kinds = {
  deletes: ({ kind }: Effect) => kind === "file.delete",
  moves: ({ kind }: Effect) => kind === "file.move",
  creates: ({ kind, before }: Effect) => kind === "file.write" && before === null,
  changes: ({ kind, before }: Effect) => kind === "file.edit" || (kind === "file.write" && before !== null),
} as const;

/** Returns how many of the effects delete and move files; the person cannot see these in an edited text. */
export function goneFrom(effects: readonly Effect[]): { readonly deletes: number; readonly moves: number } {
  return {
    deletes: effects.filter(kinds.deletes).length,
    moves: effects.filter(kinds.moves).length,
  };
}

/** Returns `14 files, deletes 1, moves 2`; only `1 file` for a single effect. */
export function extentText(effects: readonly Effect[]): string {
  const { deletes, moves } = goneFrom(effects);
  const files = fileCount(effects);
  return [
    `${files.toLocaleString("en")} ${files === 1 ? "file" : "files"}`,
    ...(deletes > 0 ? [`deletes ${deletes.toLocaleString("en")}`] : []),
    ...(moves > 0 ? [`moves ${moves.toLocaleString("en")}`] : []),
  ].join(", ");
}

/** Describes an action's size as a sentence: `Changes 13 files and deletes 1.` */
export function impactSentence(effects: readonly Effect[]): string {
  const of = (test: (effect: Effect) => boolean, verb: string, one: string, many = `${one}s`): string[] => {
    const found = effects.filter(test).length;
    return found === 0 ? [] : [`${verb} ${found.toLocaleString("en")} ${found === 1 ? one : many}`];
  };
  const kind = (name: Effect["kind"]) => (effect: Effect) => effect.kind === name;
  const parts = [
    ...of(kinds.deletes, "deletes", "file"),
    ...of(kinds.changes, "changes", "file"),
    ...of(kinds.creates, "creates", "file"),
    ...of(kinds.moves, "moves", "file"),
    ...of(kind("folder.create"), "creates", "folder"),
    ...of(kind("tag.add"), "adds", "tag"),
    ...of(kind("tag.remove"), "removes", "tag"),
    ...of(kind("field.set"), "sets", "field"),
    ...of(kind("sidecar.write"), "writes", "sidecar"),
  ];
  const last = parts.at(-1) ?? "changes nothing";
  const sentence = parts.length < 2 ? last : `${parts.slice(0, -1).join(", ")} and ${last}`;
  return `${sentence.slice(0, 1).toUpperCase()}${sentence.slice(1)}.`;
}
