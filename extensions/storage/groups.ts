import type { Hash } from "@lares/sdk";
import { canBeArchived, type Settings } from "./settings.ts";

/** The fields of an entry that are needed here. */
export interface StoredFile {
  readonly path: string;
  readonly size: number;
  /** UTC, ISO 8601 */
  readonly modified: string;
  readonly content_id: Hash | null;
}

/** Files with the same content: one to keep, and the rest. */
export interface Group {
  content_id: Hash;
  size: number;
  keep: string;
  /** Why that one is kept: the end of a sentence, after "… stays: ". */
  because: string;
  extra: string[];
  /** What else a person should know, as a sentence. */
  note?: string;
}

/** Groups files by content; files in the archive do not count as extra copies. The most wasteful group comes first. */
export function findGroups(files: Iterable<StoredFile>, settings: Settings): Group[] {
  const byContent = new Map<Hash, StoredFile[]>();
  for (const file of files) {
    if (file.content_id === null || file.size < settings.min_bytes) continue;
    if (!canBeArchived(file.path, settings)) continue;
    const same = byContent.get(file.content_id);
    if (same) same.push(file);
    else byContent.set(file.content_id, [file]);
  }
  return [...byContent.values()]
    .flatMap((same) => groupOf(same) ?? [])
    .toSorted((a, b) => wasted(b) - wasted(a));
}

/** Returns the group of these files with one content; null if there is nothing to tidy. */
export function groupOf(same: readonly StoredFile[]): Group | null {
  const [first] = same;
  if (!first || same.length < 2 || first.content_id === null || first.size === 0) return null;
  const { file, because } = chooseKept(same);
  const extra = same.filter((other) => other.path !== file.path).map((other) => other.path);
  return {
    content_id: first.content_id,
    size: first.size,
    keep: file.path,
    because,
    extra: extra.toSorted(),
  };
}

export function wasted(group: Group): number {
  return group.size * group.extra.length;
}

/** Folders in which files arrive and are not meant to stay. */
const passingFolders = new Set([
  "inbox",
  "incoming",
  "imported",
  "imports",
  "unsorted",
  "downloads",
  "download",
  "desktop",
  "tmp",
  "temp",
]);
/** "photo (1).jpg", "photo copy.jpg", "photo copy 2.jpg", "Copy of photo.jpg", "photo - Copy.jpg" */
const copyName = /( \(\d+\)|[ _-]copy( \d+)?)(\.[^.]*)?$|^copy of /i;
/** Times of files that were copied together differ by up to this much without one being older. */
const sameMomentMs = 2000;

/** Narrows the copies down by one rule after the other; the rules that excluded something are the reason. */
function chooseKept(same: readonly StoredFile[]): { file: StoredFile; because: string } {
  let left = [...same];
  const reasons: string[] = [];
  const narrow = (reason: string, keep: (file: StoredFile) => boolean): void => {
    const kept = left.filter(keep);
    if (kept.length === 0 || kept.length === left.length) return;
    left = kept;
    reasons.push(reason);
  };
  narrow("it is filed, not in a folder where files arrive", (file) => !isPassing(file.path));
  narrow("its name is not that of a copy", (file) => !copyName.test(nameOf(file.path)));
  const oldest = Math.min(...left.map((file) => Date.parse(file.modified)));
  narrow("it is the oldest", (file) => Date.parse(file.modified) - oldest < sameMomentMs);
  const shortest = Math.min(...left.map((file) => file.path.length));
  narrow("its path is the shortest", (file) => file.path.length === shortest);
  left.sort((a, b) => (a.path < b.path ? -1 : 1));
  if (left.length > 1) reasons.push("it comes first by name");
  const [file] = left;
  if (!file) throw new Error("There is no copy to choose from.");
  return { file, because: reasons.join(", and ") };
}

function isPassing(path: string): boolean {
  return path
    .toLowerCase()
    .split("/")
    .slice(0, -1)
    .some((folder) => passingFolders.has(folder));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
