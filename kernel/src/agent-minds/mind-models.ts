import { notFound } from "../base/errors.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import type { MindPorts } from "../minds/ports.ts";
import { decideHostCall } from "../policy/decide.ts";
import { defaultModelCategory, isLocalOnly } from "../policy/outside.ts";

type Models = Pick<MindPorts["models"], "answer" | "choose">;
type Question = Parameters<Models["answer"]>;

/** The use of a model, and what its agent's permissions say about it. */
interface Need {
  readonly use: Question[0];
  /** Nothing in the request may leave the machine. */
  readonly localOnly: boolean;
}

interface ModelPorts {
  /** Returns an agent's current authority; null if it is gone. */
  authorityOf(agent: string): Authority | null;
  answer(
    need: Need,
    question: Question[1],
    asker: Question[2],
    signal: AbortSignal,
  ): ReturnType<Models["answer"]>;
  choose(need: Need): ReturnType<Models["choose"]>;
}

/** Has models asked for processes of minds, if their agent may use a model to talk with. */
export function mindModels(ports: ModelPorts): Models {
  const needOf = (use: Need["use"], authority: Authority | null): Need => ({
    use,
    localOnly: authority === null || isLocalOnly(authority, defaultModelCategory),
  });
  return {
    choose: (agent, use) => ports.choose(needOf(use, ports.authorityOf(agent))),
    // Decided as late as this, because a person may deny it at any time.
    async *answer(use, question, asker, signal) {
      const authority = ports.authorityOf(asker.agent);
      if (authority === null) throw notFound("enabled extension", asker.agent);
      const decision = decideHostCall(authority, { method: "ai/generate", params: {} });
      if (!decision.allowed) throw decision.error;
      yield* ports.answer(needOf(use, authority), question, asker, signal);
    },
  };
}
