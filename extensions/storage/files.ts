import type { Entry } from "@lares/sdk";
import type { Context } from "./context.ts";
import type { StoredFile } from "./groups.ts";

/** The number of entries per query: an answer stays well below the size limit of one message. */
const pageSize = 300;
/** Content ids are computed in the background; this is how long an event waits for the ones it needs. */
const patienceMs = 15_000;
const firstPauseMs = 20;
const longestPauseMs = 1000;

export interface KnownFile extends StoredFile {
  readonly id: string;
}

/** Returns every file that the agent may see. */
export async function everyFile(ctx: Context): Promise<KnownFile[]> {
  const files: KnownFile[] = [];
  let cursor: string | undefined;
  do {
    const page = await ctx.vdfs.query({
      kind: "file",
      limit: pageSize,
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const entry of page.items) files.push(knownOf(entry));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return files;
}

/** Returns the file as it is now; null if there is no file at this path. */
export async function fileAt(ctx: Context, path: string): Promise<KnownFile | null> {
  const entry = await ctx.vdfs.get(path);
  return entry?.kind === "file" ? knownOf(entry) : null;
}

/**
 * Waits until these files have a content id. Returns those that have one, and the paths of those that had none when the
 * time was over; files that are gone are in neither list.
 */
export async function whenHashed(
  ctx: Context,
  paths: readonly string[],
): Promise<{ hashed: KnownFile[]; unhashed: string[] }> {
  const hashed: KnownFile[] = [];
  let waiting = [...paths];
  let pauseMs = firstPauseMs;
  const end = Date.now() + patienceMs;
  for (;;) {
    const still: string[] = [];
    for (const path of waiting) {
      const file = await fileAt(ctx, path);
      if (file === null) continue;
      if (file.content_id === null) still.push(path);
      else hashed.push(file);
    }
    waiting = still;
    if (waiting.length === 0 || Date.now() + pauseMs > end) return { hashed, unhashed: waiting };
    await pause(pauseMs);
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  }
}

function pause(durationMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, durationMs));
}

function knownOf({ id, path, size, modified, content_id }: Entry): KnownFile {
  return { id, path, size, modified, content_id };
}
