import { defineAgent, type Action, type Entry } from "@lares/sdk";
import { codeOf, type Context, type Memory } from "./context.ts";
import { headingFor, wantsHeading, withHeading } from "./heading.ts";
import { maxNoteBytes, readNotes } from "./library.ts";
import { Targets } from "./links.ts";
import { noteMoved, repairEnded, repairLinks } from "./repair.ts";
import { relatedTo } from "./related.ts";

/** Far below the 1 MiB that one message may have. */
const maxAsked = 500;

export default defineAgent<Memory>({
  memory: { plan: { asked: [] } },

  hooks: {
    async appeared({ entry }, ctx) {
      await look(entry, ctx);
    },
    async changed({ entry, changed_fields }, ctx) {
      if (changed_fields.every((field) => field === "tags" || field === "fields" || field === "sidecars"))
        return;
      await look(entry, ctx);
    },
    async moved({ entry, from }, ctx) {
      await noteMoved({ from, to: entry.path }, ctx);
    },
    async ended({ action, state }, ctx) {
      await repairEnded({ action, state }, ctx);
    },
  },

  jobs: {
    async repair(_input, ctx) {
      await repairLinks(ctx);
    },
  },

  tools: {
    async links({ path }: { path: string }, ctx) {
      const notes = await readNotes(ctx);
      const note = notes.find((each) => each.path === path);
      if (note === undefined)
        throw new Error(`There is no note "${path}". Name it by its path in the workspace.`);
      const targets = new Targets(notes.map((each) => each.path));
      const leadsTo = note.links.map((link) => ({ written: link.target, path: targets.of(link, path) }));
      return {
        links: [...new Set(leadsTo.flatMap((link) => link.path ?? []))],
        // Other files are not visible here, so nobody knows whether they exist.
        broken: leadsTo.flatMap((link) =>
          link.path === null && /(\.md|\/|^[^.]*)$/i.test(link.written) ? [link.written] : [],
        ),
        backlinks: notes.flatMap((each) =>
          each !== note && each.links.some((link) => targets.of(link, each.path) === path) ? [each.path] : [],
        ),
      };
    },
    async tags({ limit = 100 }: { limit?: number }, ctx) {
      const paths = new Map<string, string[]>();
      for (const note of await readNotes(ctx))
        for (const tag of note.tags) paths.set(tag, [...(paths.get(tag) ?? []), note.path]);
      return [...paths]
        .map(([tag, notes]) => ({ tag, count: notes.length, notes: notes.slice(0, 20) }))
        .toSorted((one, other) => other.count - one.count || (one.tag < other.tag ? -1 : 1))
        .slice(0, limit);
    },
    async tasks({ done = false, limit = 100 }: { done?: boolean; limit?: number }, ctx) {
      const found = (await readNotes(ctx)).flatMap(({ path, tasks }) =>
        tasks.filter(({ isDone }) => isDone === done).map(({ line, text }) => ({ path, line, text })),
      );
      return { total: found.length, tasks: found.slice(0, limit) };
    },
    async related({ path, limit = 10 }: { path: string; limit?: number }, ctx) {
      return await relatedTo(path, limit, ctx, ctx.caller === "user");
    },
    async untitled({ limit = 100 }: { limit?: number }, ctx) {
      const { items } = await ctx.vdfs.query({ extension: "md", kind: "file", limit });
      const paths: string[] = [];
      for (const { path, size } of items)
        if (size <= maxNoteBytes && wantsHeading(await ctx.vdfs.readText(path))) paths.push(path);
      return paths;
    },
  },
});

async function look({ path, name, size, content_id }: Entry, ctx: Context): Promise<void> {
  if (size > maxNoteBytes || !(await mayAsk(path, content_id, ctx))) return;
  try {
    const text = await ctx.vdfs.readText(path);
    const heading = headingFor(path);
    if (heading === "" || !wantsHeading(text)) return;
    const { id } = await ctx.actions.propose(
      [
        {
          kind: "file.write",
          path,
          content: withHeading(text, heading),
          // The hash of the text that was read, if known, so that later changes are not overwritten.
          ...(content_id === null ? {} : { expected: content_id }),
        },
      ],
      {
        title: `Give ${name} the heading “${heading}”`.slice(0, 200),
        reason: "It starts without a heading.",
      },
    );
    await ctx.memory.plan.update(({ asked, ...plan }) => ({
      ...plan,
      asked: [...asked.filter((one) => one.path !== path), { path, action: id }].slice(-maxAsked),
    }));
  } catch (error) {
    if (!isGoneOrChanged(error)) throw error;
    // The next event of the note triggers another look.
    ctx.trace.debug(`${path} changed while it was being read`);
  }
}

/**
 * True if a proposal for the note is wanted: the last one was for another text (the kernel lets the new one supersede
 * it), or it ended without a decision. An undo, a change after an approval, or a rejection with a reason counts as a
 * permanent no.
 */
async function mayAsk(path: string, content_id: Entry["content_id"], ctx: Context): Promise<boolean> {
  const { asked } = await ctx.memory.plan.read();
  const before = asked.find((one) => one.path === path);
  const action = before === undefined ? null : await actionOf(before.action, ctx);
  if (action === null) return true;
  const isSameText = content_id !== null && action.effects[0]?.before === content_id;
  switch (action.state) {
    case "Stale":
    case "Expired":
    case "Failed":
      return true;
    case "Rejected":
      return !isSameText && action.rejected_reason === undefined;
    case "PendingApproval":
      return !isSameText;
    case "Approved":
    case "Committing":
    case "Committed":
    case "Undone":
      return false;
  }
}

async function actionOf(action: string, ctx: Context): Promise<Action | null> {
  try {
    return await ctx.actions.get(action);
  } catch (error) {
    if (codeOf(error) === "NotFound") return null;
    throw error;
  }
}

function isGoneOrChanged(error: unknown): boolean {
  return ["NotFound", "Stale", "Conflict"].some((code) => codeOf(error) === code);
}
