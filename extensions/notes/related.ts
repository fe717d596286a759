import { codeOf, type Context } from "./context.ts";
import { everyNote } from "./library.ts";

/** Characters of a note that are remembered, and that are searched with. */
const maxRemembered = 8000;
const maxAsked = 1000;
/** Notes that are remembered for one answer; the next answer continues. */
const maxAtOnce = 500;
const maxKnown = 1000;

/**
 * Returns the notes that are about the same as this one, the nearest first. `isWhole`: everything that the agent may see is in
 * view. In the narrower view of a caller, a note that is not listed is not gone.
 */
export async function relatedTo(
  path: string,
  limit: number,
  ctx: Context,
  isWhole: boolean,
): Promise<{ path: string; score: number }[]> {
  const text = await ctx.vdfs.readText(path);
  await remember(ctx, isWhole);
  const hits = await ctx.memory.search(text.slice(0, maxAsked), { limit: limit + 1 });
  return hits
    .flatMap((hit) => (hit.kind === "associative" ? [{ path: hit.data.path, score: hit.score }] : []))
    .filter((hit) => hit.path !== path)
    .slice(0, limit);
}

/** Brings the memory up to date: what is new, has changed, moved or gone since the last time. */
async function remember(ctx: Context, isWhole: boolean): Promise<void> {
  const known = await ctx.memory.knowledge.query().variant("Note").topK(maxKnown).collect();
  const byPath = new Map(known.map((item) => [item.data.path, item]));
  const notes = await everyNote(ctx);
  const existing = new Set(notes.map(({ path }) => path));
  const gone = isWhole ? known.filter(({ data }) => !existing.has(data.path)) : [];
  for (const { id } of gone) await ctx.memory.knowledge.remove(id);
  let room = maxKnown - known.length + gone.length;
  const stale = notes
    .filter(({ size }) => size > 0)
    .map(({ path, size, modified, content_id }) => ({ path, version: content_id ?? `${size} ${modified}` }))
    .filter(({ path, version }) => byPath.get(path)?.data.version !== version)
    .filter(({ path }) => byPath.has(path) || room-- > 0)
    .slice(0, maxAtOnce);
  for (const data of stale) {
    try {
      const text = (await ctx.vdfs.readText(data.path)).slice(0, maxRemembered);
      const item = byPath.get(data.path);
      if (text.trim() === "") continue;
      if (item === undefined) await ctx.memory.knowledge.add("Note", data, { text, source: data.path });
      else await ctx.memory.knowledge.update(item.id, { data, text });
    } catch (error) {
      if (codeOf(error) !== "NotFound") throw error;
    }
  }
}
