import type { KnownFile } from "./files.ts";
import { canBeArchived, type Settings } from "./settings.ts";
import { inUnits } from "./wording.ts";

const dayMs = 24 * 3_600_000;
const mebibyte = 1024 * 1024;
/** Paths that a reason names of each kind. */
const named = 3;

/** What the photos agent says about a photo. */
export interface ColdPhoto {
  /** Why it stays where it is, as the end of a sentence. */
  readonly stays?: string;
  /** A photo that looks the same. */
  readonly looksLike?: string;
}

/** A file that nobody has changed for long. */
export interface ColdFile extends ColdPhoto {
  readonly id: string;
  readonly path: string;
  readonly size: number;
  readonly modified: string;
  /** For how long it was not changed. Whole days. */
  readonly days: number;
}

/** Returns the cold files, the largest first. Those that are in the cold folder or the archive already do not count. */
export function findCold(files: Iterable<KnownFile>, settings: Settings, nowMs: number): ColdFile[] {
  const found: ColdFile[] = [];
  for (const { id, path, size, modified } of files) {
    if (size < settings.cold_min_mb * mebibyte || !canBeArchived(path, settings)) continue;
    if (settings.cold_folder !== null && path.startsWith(`${settings.cold_folder}/`)) continue;
    const days = Math.floor((nowMs - Date.parse(modified)) / dayMs);
    // A comparison with NaN is false, so a file of unknown age does not count.
    if (days >= settings.cold_after_days) found.push({ id, path, size, modified, days });
  }
  return found.toSorted((one, other) => other.size - one.size || (one.path < other.path ? -1 : 1));
}

/** Returns for each cold photo of a group that looks the same which other one it looks like; one of each group has none. */
export function looksLike(
  groups: readonly (readonly string[])[],
  cold: readonly ColdFile[],
): Map<string, string> {
  const sizes = new Map(cold.map(({ path, size }) => [path, size]));
  const found = new Map<string, string>();
  for (const group of groups) {
    // A photo that is not cold stays anyway; among cold ones the largest stays, which is likely the original.
    const kept =
      group.find((path) => !sizes.has(path)) ??
      group.toSorted((one, other) => (sizes.get(other) ?? 0) - (sizes.get(one) ?? 0))[0];
    if (kept === undefined) continue;
    for (const path of group) if (path !== kept && sizes.has(path)) found.set(path, kept);
  }
  return found;
}

/** Returns those that may be moved: photos that look the same as another first, then the largest. */
export function movable(cold: readonly ColdFile[]): ColdFile[] {
  return cold
    .filter(({ stays }) => stays === undefined)
    .toSorted((one, other) => Number(other.looksLike !== undefined) - Number(one.looksLike !== undefined));
}

export function coldTitle(batch: readonly ColdFile[], folder: string): string {
  const count = batch.length === 1 ? "1 file" : `${batch.length} files`;
  const shown = folder.length > 60 ? `${folder.slice(0, 59)}…` : folder;
  return `Move ${count} that nobody changed for long to ${shown}/ (${inUnits(sizeOf(batch))})`;
}

export function coldReason(
  batch: readonly ColdFile[],
  {
    left,
    stay,
    note,
  }: { readonly left: number; readonly stay: readonly ColdFile[]; readonly note: string | null },
): string {
  const least = Math.min(...batch.map(({ days }) => days));
  const copies = batch.filter((file) => file.looksLike !== undefined);
  const sentences = [
    `Not changed for ${least} days or more. Each keeps its path beneath the folder, and can be moved back by undoing this.`,
    ...(copies.length === 0
      ? []
      : [`${list(copies.map((file) => `${file.path} looks the same as ${file.looksLike ?? ""}`))}.`]),
    ...(stay.length === 0
      ? []
      : [`Not among them: ${list(stay.map((file) => `${file.path}, because ${file.stays ?? ""}`))}.`]),
    ...(left === 0 ? [] : [`${left} more cold files are suggested when this one is decided.`]),
    ...(note === null ? [] : [note]),
  ];
  return sentences.join(" ").slice(0, 4000);
}

export function sizeOf(files: readonly ColdFile[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}

function list(parts: readonly string[]): string {
  const shown = parts.slice(0, named).join("; ");
  return parts.length > named ? `${shown}; and ${parts.length - named} more` : shown;
}
