import type { Group } from "./groups.ts";

const units = ["bytes", "KB", "MB", "GB", "TB"];

/** Formats 1536 as "1.5 KB". */
export function inUnits(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  if (unit === 0) return bytes === 1 ? "1 byte" : `${bytes} bytes`;
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

export function titleOf(group: Group): string {
  const name = group.keep.slice(group.keep.lastIndexOf("/") + 1);
  const shown = name.length > 80 ? `${name.slice(0, 79)}…` : name;
  const copies = group.extra.length === 1 ? "1 extra copy" : `${group.extra.length} extra copies`;
  return `Archive ${copies} of ${shown} (${inUnits(group.size * group.extra.length)})`;
}

export function reasonFor(group: Group): string {
  const count = group.extra.length + 1;
  const each = `${count} files of ${inUnits(group.size)} each have the same content.`;
  const note = group.note === undefined ? "" : ` ${group.note}`;
  return `${each} ${group.keep} stays: ${group.because}.${note}`.slice(0, 4000);
}

/** Returns the destination of a copy: its own path beneath the archive. */
export function archivedPath(path: string, archive: string, attempt: number): string {
  if (attempt === 1) return `${archive}/${path}`;
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  const name = path.slice(folder.length);
  const dot = name.lastIndexOf(".");
  const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
  return `${archive}/${folder}${stem} (${attempt})${ending}`;
}
