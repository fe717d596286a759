import { expectTypeOf, it } from "vitest";
import { defineAgent, type Entry, type EntryCreated } from "../index.ts";

interface Memory {
  history: { PhotoAdded: { id: string }; Counted: number };
  knowledge: { place: string };
  plan: { pending: string[] };
}

it("types an agent by its memory (checked by the compiler)", () => {
  defineAgent<Memory>({
    memory: { plan: { pending: [] } },
    hooks: {
      async photoAdded({ entry }, ctx) {
        const { pending } = await ctx.memory.plan.update((plan) => {
          plan.pending.push(entry.id);
          return plan;
        });
        expectTypeOf(pending).toEqualTypeOf<string[]>();
        if (pending.length >= ctx.config["batch"])
          await ctx.jobs.dispatch("analyze", { ids: pending }, { priority: "low", whenIdle: true });
        await ctx.memory.history.append("PhotoAdded", { id: entry.id });
        // @ts-expect-error -- the data of another variant
        await ctx.memory.history.append("Counted", { id: entry.id });
        await ctx.memory.knowledge.add("Place", { place: "x" });
        // @ts-expect-error -- not what the knowledge holds
        await ctx.memory.knowledge.add("Place", { elsewhere: "x" });
        const [added] = await ctx.memory.history.query().variant("PhotoAdded").since("7d").collect();
        expectTypeOf(added?.data).toEqualTypeOf<{ id: string } | undefined>();
        const { items, total } = await ctx.memory.history.query().variant("Counted").page();
        expectTypeOf(items[0]?.data).toEqualTypeOf<number | undefined>();
        expectTypeOf(total).toEqualTypeOf<number>();
        const [place] = await ctx.memory.knowledge.query().variant("Place").similarTo("sea").collect();
        expectTypeOf(place?.data.place).toEqualTypeOf<string | undefined>();
        const hits = await ctx.memory.search("sea");
        expectTypeOf(hits.mode).toEqualTypeOf<"text" | "vector" | "hybrid">();
        for (const hit of hits) {
          if (hit.kind === "associative") expectTypeOf(hit.data).toEqualTypeOf<{ place: string }>();
          else expectTypeOf(hit.timestamp).toEqualTypeOf<string>();
        }
      },
      async annotated({ entry, location }: EntryCreated) {
        expectTypeOf(entry).toEqualTypeOf<Entry>();
        expectTypeOf(location).toEqualTypeOf<string>();
      },
    },
    jobs: {
      async analyze({ ids }, ctx) {
        for (let i = ctx.checkpoint?.next ?? 0; i < ids.length; i++) await ctx.save({ next: i + 1 });
      },
    },
    tools: {
      async searchPerson({ person_name, limit = 20 }, ctx) {
        return ctx.vdfs.query({ tag: `#person:${person_name}`, limit });
      },
    },
  });
});
