import type { Hash } from "@lares/sdk";
import type { Context } from "./context.ts";
import { everyFile, fileAt, whenHashed, type KnownFile } from "./files.ts";
import { findGroups, groupOf } from "./groups.ts";
import { warnAboutLarge } from "./large.ts";
import { maxLarge, maxUnhashed, type LargeFile } from "./memory.ts";
import { proposeFor, refreshOpen } from "./proposals.ts";
import { canBeArchived, settingsOf, type Settings } from "./settings.ts";

/** When a file appears, at most this many copies of its content are examined; a full look examines all. */
const maxCopies = 200;
/** With each event, this many of the files that were not hashed in time are examined again. */
const againAtOnce = 20;

/** Examines every file: at the end of an index. */
export async function lookAtAll(ctx: Context): Promise<void> {
  const settings = settingsOf(ctx.config);
  const files = await everyFile(ctx);
  // Only files of the same size can have the same content; the others need no content id.
  const bySize = sizesOf(files);
  const needed = files.filter(
    ({ content_id, size }) =>
      content_id === null && size >= settings.min_bytes && (bySize.get(size) ?? 0) > 1,
  );
  const { hashed, unhashed } = await whenHashed(
    ctx,
    needed.map(({ path }) => path),
  );
  const fresh = new Map(hashed.map((file) => [file.path, file]));
  const known = files.map((file) => fresh.get(file.path) ?? file);

  await refreshOpen(ctx);
  await proposeFor(ctx, findGroups(known, settings), { again: false });
  await warnAboutLarge(ctx, largeOf(known, settings, bySize));
  await ctx.memory.plan.update((memory) => ({
    ...memory,
    indexed: true,
    unhashed: unhashed.slice(0, maxUnhashed),
  }));
  if (unhashed.length > 0) {
    ctx.trace.info(`${unhashed.length} files are not hashed yet; they are examined with the next event`);
  }
}

/** Examines one file that is new or has new content, and its copies. */
export async function lookAtFile(ctx: Context, path: string): Promise<void> {
  const { hashed, unhashed } = await whenHashed(ctx, [path]);
  if (unhashed.length > 0) {
    await ctx.memory.plan.update((memory) => ({
      ...memory,
      unhashed: [...new Set([...memory.unhashed, path])].slice(-maxUnhashed),
    }));
  }
  for (const file of hashed) await lookAtContent(ctx, file);
}

/** Examines some of the files whose content id came too late. */
export async function lookAgain(ctx: Context): Promise<void> {
  const { unhashed } = await ctx.memory.plan.read();
  const taken = unhashed.slice(0, againAtOnce);
  const done: string[] = [];
  for (const path of taken) {
    const file = await fileAt(ctx, path);
    if (file?.content_id === null) continue;
    if (file !== null) await lookAtContent(ctx, file);
    done.push(path);
  }
  if (done.length === 0) return;
  await ctx.memory.plan.update((memory) => ({
    ...memory,
    unhashed: memory.unhashed.filter((path) => !done.includes(path)),
  }));
}

/** Called when a file is gone: a large file may have lost its second copy. */
export async function lookAtLargeWithout(ctx: Context, entryId: string): Promise<void> {
  const gone = (await ctx.memory.plan.read()).large.find(({ id }) => id === entryId);
  if (gone === undefined) return;
  const { large } = await ctx.memory.plan.update((memory) => ({
    ...memory,
    large: memory.large.filter(({ id }) => id !== entryId),
  }));
  const { content_id } = gone;
  if (content_id === null || !large.some((file) => file.content_id === content_id)) return;
  const { count } = await ctx.vdfs.copies(content_id);
  if (count !== 1) return;
  await warnAboutLarge(
    ctx,
    large.filter((file) => file.content_id === content_id).map((file) => ({ ...file, alone: true })),
  );
}

/** Examines the files that have this content now. */
export async function lookAtCopies(ctx: Context, content_id: Hash): Promise<void> {
  const [path] = (await ctx.vdfs.copies(content_id)).paths;
  const file = path === undefined ? null : await fileAt(ctx, path);
  if (file?.content_id === content_id) await lookAtContent(ctx, file);
}

async function lookAtContent(ctx: Context, file: KnownFile): Promise<void> {
  if (file.content_id === null) return;
  const settings = settingsOf(ctx.config);
  const { count, paths } = await ctx.vdfs.copies(file.content_id);
  const copies: KnownFile[] = [];
  for (const path of paths.slice(0, maxCopies)) {
    const copy = await fileAt(ctx, path);
    // The file may have changed since the query; then it is no longer a copy, and its own event is on its way.
    if (copy?.content_id === file.content_id) copies.push(copy);
  }
  if (file.size >= settings.large_bytes) {
    await warnAboutLarge(
      ctx,
      copies.map((copy) => largeFile(copy, count === 1)),
    );
  }
  if (file.size < settings.min_bytes) return;
  const group = groupOf(copies.filter(({ path }) => canBeArchived(path, settings)));
  if (group === null) return;
  await refreshOpen(ctx);
  await proposeFor(ctx, [group], { again: false });
}

function sizesOf(files: readonly KnownFile[]): Map<number, number> {
  const sizes = new Map<number, number>();
  for (const { size } of files) sizes.set(size, (sizes.get(size) ?? 0) + 1);
  return sizes;
}

/**
 * Returns the large files, and whether they have a second copy. A file without a content id counts as unique only if no
 * other file has its size.
 */
function largeOf(
  files: readonly KnownFile[],
  settings: Settings,
  bySize: ReadonlyMap<number, number>,
): LargeFile[] {
  const large = files.filter(({ size }) => size >= settings.large_bytes);
  const byContent = new Map<Hash, number>();
  for (const { content_id } of large) {
    if (content_id !== null) byContent.set(content_id, (byContent.get(content_id) ?? 0) + 1);
  }
  return large
    .filter((file) => file.content_id !== null || bySize.get(file.size) === 1)
    .map((file) => largeFile(file, file.content_id === null || byContent.get(file.content_id) === 1))
    .toSorted((a, b) => b.size - a.size)
    .slice(0, maxLarge);
}

function largeFile({ id, path, size, content_id }: KnownFile, alone: boolean): LargeFile {
  return { id, path, size, content_id, alone };
}
