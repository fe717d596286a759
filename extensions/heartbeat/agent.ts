import { defineAgent, type AgentContext } from "@lares/sdk";
import { look, nothingKnown, problemsOf, type Problem, type Remembered } from "./health.ts";

interface Memory {
  plan: Remembered;
}
type Context = AgentContext<Memory>;

const hourMs = 60 * 60 * 1000;
const remindAfterHours = 24;
/** Problems that one notification names. */
const maxNamed = 5;

export default defineAgent<Memory>({
  memory: { plan: nothingKnown },

  hooks: {
    async beat(_event, ctx) {
      const before = await ctx.memory.plan.read();
      const { remembered, tell, recovered } = look(
        await ctx.agents.list(),
        before,
        Date.now(),
        remindAfterMs(ctx.config),
      );
      // Remembered first: it is better to be silent once after a crash than to repeat oneself.
      await ctx.memory.plan.update(() => remembered);
      await say(tell, recovered, ctx);
    },
  },

  tools: {
    async health(_arguments, ctx) {
      const { known, jobs } = await ctx.memory.plan.read();
      const since = new Map(known.map((one) => [one.key, new Date(one.since).toISOString()]));
      return problemsOf(await ctx.agents.list(), jobs).map(({ agent, kind, words }) => ({
        agent,
        problem: `${agent} ${words}`,
        ...(since.has(`${kind} ${agent}`) ? { since: since.get(`${kind} ${agent}`) } : {}),
      }));
    },
  },
});

async function say(tell: readonly Problem[], recovered: readonly string[], ctx: Context): Promise<void> {
  if (tell.length > 0) {
    const agents = [...new Set(tell.map(({ agent }) => agent))];
    const title = agents.length === 1 ? `${agents[0]} needs a look` : `${agents.length} agents need a look`;
    const named = tell.slice(0, maxNamed).map(({ agent, words }) => `${agent} ${words}.`);
    const rest = tell.length > maxNamed ? [`And ${tell.length - maxNamed} more.`] : [];
    await ctx.notify(title, [...named, ...rest].join("\n"), { severity: "warning" });
  }
  if (recovered.length > 0)
    await ctx.notify(
      recovered.length === 1 ? `${recovered[0]} works again` : `${recovered.length} agents work again`,
      recovered.slice(0, maxNamed).join(", "),
    );
}

/** 0: no reminder. */
function remindAfterMs(config: Readonly<Record<string, unknown>>): number {
  const hours = config["remind_after_hours"];
  const isSound = typeof hours === "number" && Number.isFinite(hours) && hours >= 0;
  return (isSound ? hours : remindAfterHours) * hourMs;
}
