import type { FileHandle } from "node:fs/promises";

/**
 * Sets a file's modification time so that reading it back returns exactly `mtimeMs`.
 *
 * The system takes seconds as a double, currently in steps of 238 ns, and reports milliseconds as a double, in
 * steps of 244 ns: one neighbour of the obvious value always reads back as wanted, but rarely the obvious one.
 */
export async function setModifiedTime(file: FileHandle, mtimeMs: number): Promise<void> {
  const seconds = mtimeMs / 1000;
  const step = 2 ** (Math.floor(Math.log2(Math.max(1, Math.abs(seconds)))) - 52);
  for (const offset of [0, 1, -1, 2, -2, 3, -3]) {
    const candidate = seconds + offset * step;
    await file.utimes(candidate, candidate);
    if ((await file.stat()).mtimeMs === mtimeMs) return;
  }
  // On a file system with coarser times, this is the nearest.
  await file.utimes(seconds, seconds);
}
