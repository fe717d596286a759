import { type AgentContext, defineAgent } from "@lares/sdk";

async function propose(path: string, ctx: AgentContext): Promise<void> {
  const text = await ctx.vdfs.readText(path);
  if (text.startsWith("#") || text.trim() === "") return;
  const name = path.slice(path.lastIndexOf("/") + 1);
  const content = `# ${name.replace(/\.md$/, "")}\n\n${text}`;
  await ctx.actions.propose([{ kind: "file.write", path, content }], {
    title: `Give ${name} a title`,
    reason: "It starts without a heading.",
  });
}

export default defineAgent({
  hooks: {
    async noteSaved({ entry }, ctx) {
      const text = await ctx.vdfs.readText(entry.path);
      await ctx.memory.history.append("saved", { path: entry.path, text });
      await ctx.memory.knowledge.add("note", { path: entry.path }, { text });
      ctx.trace.info("saw a note", { path: entry.path });
      await propose(entry.path, ctx);
    },
    async nightly(_event, ctx) {
      ctx.trace.info("nothing to do at night");
    },
  },
  tools: {
    async propose({ path }: { path: string }, ctx) {
      await propose(path, ctx);
      return null;
    },
    shout({ word, times = 1 }: { word: string; times?: number }) {
      return `${word.toUpperCase()}! `.repeat(times).trim();
    },
    chatter({ count = 100, from = 0 }: { count?: number; from?: number }, ctx) {
      for (let number = from; number < from + count; number++) ctx.trace.info(`line ${number}`, { number });
      return from + count;
    },
  },
});
