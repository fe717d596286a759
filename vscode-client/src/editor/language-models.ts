import {
  type CancellationToken,
  type LanguageModelChat,
  LanguageModelChatMessage,
  LanguageModelError,
  LanguageModelTextPart,
  LanguageModelToolCallPart,
  LanguageModelToolResultPart,
  lm,
} from "vscode";
import type { GenerateParams, GenerateResult, GeneratedPart, OfferedResult } from "../protocol.ts";

/** Why the editor's models do not answer, as the kernel classifies it. */
class ModelRefusal extends Error {
  readonly class: string;

  constructor(failure: string, message: string) {
    super(message);
    this.class = failure;
  }
}

/** The language models of this editor, for the kernel. */
export interface EditorModels {
  /** Editors built from the same sources may have none. */
  readonly isOffered: boolean;
  /** Returns those that the editor has now; extensions may bring more later. */
  list(): Promise<OfferedResult>;
  /** Calls `say` with what the model says, as it says it. Rejects with a ModelRefusal. */
  generate(
    params: GenerateParams,
    say: (part: GeneratedPart) => void,
    token: CancellationToken,
  ): Promise<GenerateResult>;
}

/** JSON, because a model wrote it. */
type GeneratedArguments = Extract<GeneratedPart, { tool_call: unknown }>["tool_call"]["arguments"];

/** The number of models that the kernel is told. */
const maxListed = 100;
const justification =
  "An agent of this workspace, which you allowed to use language models, asks this model.";

/** Answers with `vscode.lm`. The editor asks the person for consent, and says what was used up. */
export const editorModels: EditorModels = {
  get isOffered() {
    return typeof lm?.selectChatModels === "function";
  },
  async list() {
    const models = (await lm.selectChatModels()).slice(0, maxListed);
    return { models: models.map(({ id, maxInputTokens }) => ({ id, context_tokens: maxInputTokens })) };
  },
  async generate(params, say, token) {
    const model = await selected(params.model);
    try {
      const response = await model.sendRequest(
        params.messages.map(messageFor),
        {
          justification,
          ...(params.tools === undefined
            ? {}
            : {
                tools: params.tools.map(({ name, description, parameters }) => ({
                  name,
                  description,
                  inputSchema: parameters,
                })),
              }),
          modelOptions: {
            ...(params.max_output_tokens === undefined ? {} : { max_tokens: params.max_output_tokens }),
            ...(params.temperature === undefined ? {} : { temperature: params.temperature }),
          },
        },
        token,
      );
      for await (const part of response.stream)
        if (part instanceof LanguageModelTextPart) say({ text: part.value });
        else if (part instanceof LanguageModelToolCallPart)
          say({
            tool_call: { call: part.callId, tool: part.name, arguments: part.input as GeneratedArguments },
          });
      return { finish: "stop" };
    } catch (error) {
      throw refusalOf(error);
    }
  },
};

/** `id`: a model's id or family; "default": the first that the editor has. */
async function selected(id: string): Promise<LanguageModelChat> {
  const all = await lm.selectChatModels();
  const found = id === "default" ? all[0] : all.find((model) => model.id === id || model.family === id);
  if (found !== undefined) return found;
  const known = all.map((model) => model.id).join(", ");
  throw all.length === 0
    ? new ModelRefusal(
        "NoModel",
        "This editor offers no language model. Install an extension that brings one, and sign in there.",
      )
    : new ModelRefusal("UnknownModel", `This editor has no model "${id}". It has: ${known}.`);
}

/** The editor knows no system messages: the person's first message says it. */
function messageFor({ role, parts }: GenerateParams["messages"][number]): LanguageModelChatMessage {
  if (role === "assistant")
    return LanguageModelChatMessage.Assistant(
      parts.flatMap((part): (LanguageModelTextPart | LanguageModelToolCallPart)[] => {
        if (part.type === "text") return [new LanguageModelTextPart(part.text)];
        if (part.type !== "tool_call") return [];
        return [new LanguageModelToolCallPart(part.call, part.tool, (part.arguments ?? {}) as object)];
      }),
    );
  return LanguageModelChatMessage.User(
    parts.flatMap((part): (LanguageModelTextPart | LanguageModelToolResultPart)[] => {
      if (part.type === "text") return [new LanguageModelTextPart(part.text)];
      if (part.type !== "tool_result") return [];
      return [new LanguageModelToolResultPart(part.call, [new LanguageModelTextPart(part.text)])];
    }),
  );
}

function refusalOf(error: unknown): Error {
  if (!(error instanceof Error)) return new ModelRefusal("Network", String(error));
  if (!(error instanceof LanguageModelError)) return new ModelRefusal("Network", error.message);
  switch (error.code) {
    case "NoPermissions":
      return new ModelRefusal(
        "Unauthorized",
        "You did not allow Lares to use this editor's language models.",
      );
    case "NotFound":
      return new ModelRefusal("UnknownModel", error.message);
    case "Blocked":
      // The quota is used up, or there were too many requests.
      return new ModelRefusal("RateLimited", error.message);
    default:
      return new ModelRefusal("Network", error.message);
  }
}
