import { defineAgent, type BeforeAction, type BeforeToolCall, type InterceptAnswer } from "@lares/sdk";
import { readRules, refusal, type Rules } from "./rules.ts";

/** A person reads the whole reason; the kernel takes no longer one. */
const maxReason = 1_000;

let known: Rules | null = null;

export default defineAgent({
  async onStartup(ctx) {
    for (const { problem } of rulesOf(ctx.config).broken)
      await ctx.notify("A rule of Safety cannot be read", problem, { severity: "warning" });
  },

  hooks: {
    call: ({ tool, arguments: args, withheld }: BeforeToolCall, ctx): InterceptAnswer<"BeforeToolCall"> =>
      answer(refusal(rulesOf(ctx.config), "tool", { tool, arguments: args }, withheld)),
    action: ({ action, withheld }: BeforeAction, ctx): InterceptAnswer<"BeforeAction"> =>
      answer(refusal(rulesOf(ctx.config), "action", { action }, withheld)),
  },

  tools: {
    rules(_arguments, ctx) {
      const { sound, broken } = rulesOf(ctx.config);
      return {
        rules: sound.map(({ on, when, reason }) => ({ on, when, reason })),
        problems: broken.map(({ problem }) => problem),
      };
    },
  },
});

/** A guest lives no longer than its settings. */
function rulesOf(config: Readonly<Record<string, unknown>>): Rules {
  return (known ??= readRules(config));
}

function answer(reason: string | null): { readonly cancel?: string } {
  return reason === null ? {} : { cancel: reason.slice(0, maxReason) };
}
