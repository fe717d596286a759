import type { Asks, Question } from "../../asks/asks.ts";
import { sha256 } from "../../platform/files/hash.ts";
import type { MindPorts } from "../../minds/ports.ts";
import { quotedText } from "../../base/visible-text.ts";
import type { Asker, ModelRuntimePorts } from "../../models/runtime.ts";
import { isLocalProvider } from "../../models/routing.ts";

/** Asks a person before a model is used that they did not name, or whose cost nobody knows. */
export function modelConsent(asks: Asks): Pick<ModelRuntimePorts, "allowsUnpriced" | "allowsFound"> {
  const isAllowed = async (
    question: Omit<Question, "agent" | "sources">,
    { agent, conversation, process, asking }: Asker,
    signal: AbortSignal,
  ): Promise<boolean> => {
    // A person who tests a model has asked for it.
    if (agent === "") return true;
    return asks.isAllowed(
      {
        agent,
        ...(conversation === "" ? {} : { conversation }),
        ...(process === null ? {} : { process }),
        sources: [],
        ...question,
      },
      signal,
      asking,
    );
  };
  return {
    allowsUnpriced: (model, asker, signal) =>
      isAllowed(
        {
          kind: "budget",
          title: `May ${asker.agent} use ${quotedText(model)}, whose price is not known?`,
          reason:
            "Your lares.yaml sets a budget in dollars, and this model cannot be counted against it. models.budgets.per_day_tokens would limit it.",
          facts: { model },
          scopes: ["once", "always"],
          about: model,
          countsFor: "agent",
        },
        asker,
        signal,
      ),
    allowsFound: (provider, model, asker, signal) => {
      const { id, api, baseUrl = "", foundBy = "" } = provider;
      const host = URL.parse(baseUrl)?.host ?? "";
      const where =
        api === "editor"
          ? "The editor decides where it sends what agents write, and what that costs you"
          : isLocalProvider(provider)
            ? "The model runs on this machine"
            : `What agents write to it is sent to ${host}`;
      return isAllowed(
        {
          kind: "model",
          title: `May agents in this workspace use ${quotedText(model)}, found by ${foundBy}?`,
          reason: `Your lares.yaml names no provider of language models, and ${asker.agent} needs one. ${where}. Unless you answer for once only, the answer counts for all agents of this workspace and for every model that is found this way.`,
          facts: { model, provider: id, api, host },
          scopes: ["always", "once"],
          about: `${id}, found by ${foundBy}`,
          countsFor: "workspace",
        },
        asker,
        signal,
      );
    },
  };
}

/** Returns the question whether a mind may keep a text that was made from text nobody vouches for. Nothing is remembered. */
export function blockQuestion(
  place: Parameters<MindPorts["asks"]["block"]>[0],
  { block, before, text, sources }: Parameters<MindPorts["asks"]["block"]>[1],
): Question {
  const now = before === "" ? "The block is empty now." : `The block reads now: ${quotedText(before)}.`;
  return {
    ...place,
    kind: "block",
    title: `May ${place.agent} keep a text in its block ${quotedText(block)} for all of its conversations?`,
    reason: `The text was made from text that nobody vouches for, so it holds only in its conversation until you accept it. ${now} It would read: ${quotedText(text)}.`,
    sources: [...sources],
    facts: { block, before, text },
    scopes: ["once"],
    about: `${block} ${sha256(text)}`,
    countsFor: "agent",
  };
}
