import { defineAgent } from "@lares/sdk";

export default defineAgent({
  hooks: {
    async noteSaved({ entry }, ctx) {
      const text = await ctx.vdfs.readText(entry.path);
      await ctx.memory.history.append("saved", { path: entry.path, text });
      await ctx.memory.knowledge.add("note", { path: entry.path }, { text });
      ctx.trace.info("saw a note", { path: entry.path });
      if (text.startsWith("#") || text.trim() === "") return;
      const title = entry.name.replace(/\.md$/, "");
      await ctx.actions.propose(
        [{ kind: "file.write", path: entry.path, content: `# ${title}\n\n${text}` }],
        { title: `Give ${entry.name} a title`, reason: "It starts without a heading." },
      );
    },
    async nightly(_event, ctx) {
      ctx.trace.info("nothing to do at night");
    },
  },
  tools: {
    shout({ word, times = 1 }: { word: string; times?: number }) {
      return `${word.toUpperCase()}! `.repeat(times).trim();
    },
    chatter({ count = 100, from = 0 }: { count?: number; from?: number }, ctx) {
      for (let number = from; number < from + count; number++) ctx.trace.info(`line ${number}`, { number });
      return from + count;
    },
  },
});
