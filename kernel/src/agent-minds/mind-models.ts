import type { Authority } from "../base/vocabulary/permissions.ts";
import { notFound } from "../base/errors.ts";
import type { MindPorts } from "../minds/ports.ts";
import type { Need } from "../models/routing.ts";
import type { ModelRuntime } from "../models/runtime.ts";
import { decideHostCall } from "../policy/decide.ts";
import { defaultModelCategory, isLocalOnly } from "../policy/outside.ts";

interface ModelPorts {
  /** Returns an agent's current authority; null if it is gone. */
  authorityOf(agent: string): Authority | null;
  readonly runtime: Pick<ModelRuntime, "answer">;
  choose(need: Need): ReturnType<MindPorts["models"]["choose"]>;
}

/** Has models asked for processes of minds, if their agent may use a model to talk with. */
export function mindModels({
  authorityOf,
  runtime,
  choose,
}: ModelPorts): Pick<MindPorts["models"], "answer" | "choose"> {
  const needOf = (use: Need["use"], authority: Authority | null): Need => ({
    use,
    localOnly: authority === null || isLocalOnly(authority, defaultModelCategory),
  });
  return {
    choose: (agent, use) => choose(needOf(use, authorityOf(agent))),
    // Decided as late as this, because a person may deny it at any time.
    async *answer(use, question, asker, signal) {
      const authority = authorityOf(asker.agent);
      if (authority === null) throw notFound("enabled extension", asker.agent);
      const decision = decideHostCall(authority, { method: "ai/generate", params: {} });
      if (!decision.allowed) throw decision.error;
      yield* runtime.answer(needOf(use, authority), question, asker, signal);
    },
  };
}
