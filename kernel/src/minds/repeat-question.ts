import type { JsonValue } from "../base/json.ts";
import { quotedText } from "../base/visible-text.ts";
import type { Question } from "../base/vocabulary/ask.ts";
import { callFact } from "./asked-call.ts";
import type { MindPorts } from "./ports.ts";

/** Returns the question whether a process may make a call once more that it has just made twice. */
export function repeatQuestion(
  { agent, conversation, process, lineage: { sources = [] } }: Parameters<MindPorts["mayRepeat"]>[0],
  tool: string,
  args: unknown,
): Question {
  return {
    agent,
    conversation,
    process,
    kind: "repeat",
    title: `May ${agent} call ${quotedText(tool)} once more with the same arguments?`,
    reason: `Its ${process} has made the same call twice in a row, and may be going in circles.`,
    sources: [...sources],
    facts: {
      tool,
      arguments: args === undefined ? {} : (args as JsonValue),
      ...callFact({ agent, conversation }, tool, args),
    },
    // Untrusted text may have led to it.
    scopes: sources.length > 0 ? ["once"] : ["once", "conversation"],
    about: tool,
    countsFor: "agent",
  };
}
