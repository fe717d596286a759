import type { Asking, Question } from "../base/vocabulary/ask.ts";
import { onBehalfField } from "../base/vocabulary/principal.ts";
import { quotedText } from "../base/visible-text.ts";
import type { Asker, ModelRuntimePorts } from "../models/runtime.ts";
import { isLocalProvider } from "../models/routing.ts";

interface Asks {
  isAllowed(question: Question, signal: AbortSignal, asking?: Asking): Promise<boolean>;
}

/** Asks a person before a model is used that they did not name, or whose cost nobody knows. */
export function modelConsent(asks: Asks): Pick<ModelRuntimePorts, "allowsUnpriced" | "allowsFound"> {
  const isAllowed = async (
    question: Omit<Question, "agent" | "sources">,
    { agent, conversation, process, onBehalfOf = [], asking }: Asker,
    signal: AbortSignal,
  ): Promise<boolean> => {
    // A person who tests a model has asked for it.
    if (agent === "") return true;
    return asks.isAllowed(
      {
        agent,
        ...(conversation === "" ? {} : { conversation }),
        ...(process === null ? {} : { process }),
        ...onBehalfField(onBehalfOf),
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
