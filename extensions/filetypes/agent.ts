import { defineAgent, type AgentContext } from "@lares/sdk";
import * as counts from "./counts.ts";

interface Memory {
  plan: counts.Counts;
}
type Context = AgentContext<Memory>;

/** The number of entries per query: an answer stays well below the size limit of one message. */
const pageSize = 500;

/**
 * In a burst of events, each type is counted at most this often. The remaining types are counted with the next event,
 * with IndexComplete, or when a tool is called.
 */
const recountPauseMs = 1000;
const lastCounted = new Map<string, number>();

export default defineAgent<Memory>({
  memory: { plan: counts.noCounts() },

  hooks: {
    async appeared({ entry }, ctx) {
      await changed([entry.extension], ctx);
    },
    async moved({ entry, from }, ctx) {
      await changed([entry.extension, ...counts.typesOfPath(from)], ctx);
    },
    async disappeared({ path }, ctx) {
      await changed(counts.typesOfPath(path), ctx);
    },
    async indexed(_event, ctx) {
      await countAll(ctx);
      const { total, bytes, types } = counts.summarise(await ctx.memory.plan.read());
      ctx.trace.info(`${total} files of ${types} types`, { files: total, bytes });
    },
  },

  tools: {
    async summary({ top }: { top?: number }, ctx) {
      const known = await ctx.memory.plan.read();
      if (counts.needsFullCount(known)) await countAll(ctx);
      else await recount(known.changed, ctx);
      return counts.summarise(await ctx.memory.plan.read(), top);
    },
  },
});

/**
 * An event only marks the types to count again; the numbers always come from the index. Nothing is added up, so an
 * event that arrives twice, late or out of order does no harm.
 */
async function changed(extensions: readonly string[], ctx: Context): Promise<void> {
  let known = await ctx.memory.plan.read();
  if (!counts.areMarked(known, extensions)) {
    known = await ctx.memory.plan.update((now) => counts.markChanged(now, extensions));
  }
  // Before the first index is complete there is nothing to correct: everything is counted at its end.
  if (known.counted === null) return;
  await recount(known.changed.filter(isDue), ctx);
}

function isDue(extension: string): boolean {
  const last = lastCounted.get(extension);
  return last === undefined || Date.now() - last >= recountPauseMs;
}

async function recount(extensions: readonly string[], ctx: Context): Promise<void> {
  if (extensions.length === 0) return;
  if (counts.needsFullCount(await ctx.memory.plan.read())) return countAll(ctx);
  await ctx.memory.plan.update((now) => counts.unmark(now, extensions));
  for (const extension of extensions) {
    lastCounted.set(extension, Date.now());
    const [count = null] = await tally(ctx, extension);
    await ctx.memory.plan.update((now) => counts.countedOne(now, extension, count));
  }
}

async function countAll(ctx: Context): Promise<void> {
  await ctx.memory.plan.update((now) => counts.unmark(now, now.changed));
  const types = await tally(ctx);
  await ctx.memory.plan.update((now) => counts.countedAll(now, types, new Date().toISOString()));
}

/** Counts the files of one type, or of all. */
async function tally(ctx: Context, extension?: string): Promise<counts.TypeCount[]> {
  const sum = new counts.Tally();
  let cursor: string | undefined;
  do {
    const page = await ctx.vdfs.query({
      kind: "file",
      limit: pageSize,
      ...(extension === undefined ? {} : { extension }),
      ...(cursor === undefined ? {} : { cursor }),
    });
    for (const entry of page.items) {
      if (extension === undefined || entry.extension === extension) sum.add(entry);
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
  return sum.result();
}
