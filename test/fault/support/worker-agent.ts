import type { ExtensionSpec } from "../../support/bench.ts";

export const WORKER = "test.worker";
/** Files beneath it are the client's; the agent remembers the latest size of each. */
export const EVENTS_FOLDER = "events";

/**
 * An agent with a memory that a test can check: every note it got, and for each file of the client the largest size
 * that was reported, or its deletion. It proposes what it is told to.
 */
const PROGRAM = `
import { defineAgent } from "@lares/sdk";

const remember = (ctx, path, size) => {
  ctx.trace.info("handled " + path);
  if (!path.startsWith("${EVENTS_FOLDER}/")) return;
  return ctx.memory.plan.update((plan) => {
    plan.handled[path] = Math.max(plan.handled[path] ?? 0, size);
    return plan;
  });
};

export default defineAgent({
  memory: { plan: { notes: [], handled: {} } },
  hooks: {
    async seen(event, ctx) { await remember(ctx, event.entry.path, event.entry.size); },
    // To the agent, a file that was moved while no kernel ran may look like a deleted and a created one.
    async moved(event, ctx) {
      await remember(ctx, event.from, 1e9);
      await remember(ctx, event.entry.path, event.entry.size);
    },
    async gone(event, ctx) { await remember(ctx, event.path, 1e9); },
  },
  tools: {
    async note({ note, sync }, ctx) {
      await ctx.memory.plan.update((plan) => { plan.notes.push(note); return plan; });
      if (sync) await ctx.memory.sync();
      return note;
    },
    async append({ note, sync }, ctx) {
      await ctx.memory.history.append("note", { note, text: "event" + note });
      if (sync) await ctx.memory.sync();
      return note;
    },
    async learn({ note, sync }, ctx) {
      await ctx.memory.knowledge.add("note", { note }, { text: "item" + note + " of what is known" });
      if (sync) await ctx.memory.sync();
      return note;
    },
    async unlearn(_, ctx) {
      const items = await ctx.memory.knowledge.query().topK(1000).collect();
      for (const { id } of items) await ctx.memory.knowledge.remove(id);
      return items.length;
    },
    async forget({ before }, ctx) {
      await ctx.memory.plan.update((plan) => {
        plan.notes = plan.notes.filter((note) => note >= before);
        for (const path of Object.keys(plan.handled)) if (plan.handled[path] >= 1e9) delete plan.handled[path];
        return plan;
      });
      return null;
    },
    async grow({ times }, ctx) {
      // Events: superseded states of working memory would be dropped before they fill a segment.
      for (let n = 0; n < times; n++) await ctx.memory.history.append("filling", String(n % 10).repeat(900_000));
      return null;
    },
    async plan(_, ctx) { return ctx.memory.plan.read(); },
    async propose({ effects, title }, ctx) {
      const action = await ctx.actions.propose(effects, { title, reason: "A test." });
      return { id: action.id, state: action.state };
    },
  },
});
`;

export const workerExtension: ExtensionSpec = {
  id: WORKER,
  program: PROGRAM,
  manifest: {
    permissions: {
      read_entries: true,
      write_sidecars: { kinds: ["faces"] },
      write_tags: true,
      write_custom_fields: { namespace: "worker" },
      propose_actions: ["file.write", "file.edit", "file.move", "file.delete", "folder.create"],
    },
    hooks: [
      { on: "EntryCreated", handler: "seen" },
      { on: "EntryModified", handler: "seen" },
      { on: "EntryMoved", handler: "moved" },
      { on: "EntryDeleted", handler: "gone" },
    ],
    tools: ["note", "append", "learn", "unlearn", "forget", "grow", "plan", "propose"].map((name) => ({
      name,
      description: name,
      handler: name,
      parameters: { type: "object" },
    })),
  },
};

/** Computes at each new file beneath `spin/` until its deadline ends it. */
export const spinnerExtension: ExtensionSpec = {
  id: "test.spinner",
  program: `
import { defineAgent } from "@lares/sdk";
export default defineAgent({ hooks: { async spin() { for (;;); } } });
`,
  manifest: {
    permissions: { read_entries: true },
    hooks: [{ on: "EntryCreated", handler: "spin", filter: `entry.path.startsWith("spin/")` }],
    resources: { max_cpu_ms_per_event: 50 },
  },
};
