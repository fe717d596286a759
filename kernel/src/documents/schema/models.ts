import { Type, type Static } from "typebox";
import { closed } from "../../base/vocabulary/common.ts";
import { maxSecretNameLength, secretNamePattern } from "../../base/vocabulary/secret.ts";

/** A provider's name: the part of a reference before the slash. */
export const providerNamePattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$";
/** `provider/model`; the model's name may contain slashes. */
export const modelReferencePattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}/[^\\s]{1,256}$";

const Reference = (description: string) =>
  Type.String({
    pattern: modelReferencePattern,
    maxLength: 322,
    description,
    examples: ["anthropic/claude-sonnet-4-5", "ollama/qwen3"],
  });

const Key = Type.Optional(
  Type.Object(
    {
      secret: Type.String({
        pattern: secretNamePattern,
        maxLength: maxSecretNameLength,
        description: "The secret's name, as `lares secrets set` stored it",
      }),
    },
    { ...closed, description: "The secret that holds the key. The key itself never stands in a document" },
  ),
);
const BaseUrl = (description: string, fallback?: string) =>
  Type.String({
    minLength: 1,
    maxLength: 2048,
    description: fallback === undefined ? description : `${description}; default ${fallback}`,
    ...(fallback === undefined ? { examples: ["http://127.0.0.1:8080/v1"] } : { default: fallback }),
  });
const contextTokens = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 256, maximum: 100_000_000, description, examples: [32_768] }));
const ContextTokens = contextTokens(
  "How many tokens a request and its answer may have together, where no catalogue says it",
);

const Images = Type.Optional(
  Type.Boolean({
    description:
      "Whether its models take pictures; default what is known about each model, and for others false: they read a sentence in place of a picture",
  }),
);

const openAiUrl = "https://api.openai.com/v1";
export const defaultBaseUrls = {
  anthropic: "https://api.anthropic.com/v1",
  openai: openAiUrl,
  "openai-chat": openAiUrl,
  google: "https://generativelanguage.googleapis.com/v1beta",
  ollama: "http://127.0.0.1:11434",
} as const;

const Hosted = <Api extends keyof typeof defaultBaseUrls>(api: Api, description: string) =>
  Type.Object(
    {
      api: Type.Literal(api, { description }),
      key: Key,
      base_url: Type.Optional(BaseUrl("Where requests go", defaultBaseUrls[api])),
      context_tokens: ContextTokens,
      images: Images,
    },
    { ...closed, description },
  );

const Provider = Type.Union(
  [
    Hosted("anthropic", "Anthropic's Messages API"),
    Hosted("openai", "OpenAI's Responses API"),
    Hosted("openai-chat", "OpenAI's Chat Completions API"),
    Hosted("google", "Google's Gemini API"),
    Hosted("ollama", "Ollama's own API"),
    Type.Object(
      {
        api: Type.Literal("openai-compatible", {
          description: "A server with OpenAI's Chat Completions API",
        }),
        base_url: BaseUrl("Where requests go, up to and with its version"),
        key: Key,
        context_tokens: ContextTokens,
        images: Images,
      },
      { ...closed, description: "A server with OpenAI's Chat Completions API" },
    ),
    Type.Object(
      {
        api: Type.Literal("llama", {
          description:
            "Model files (GGUF) that run inside Lares, by the package node-llama-cpp, which you install beside it",
        }),
        models: Type.Record(
          Type.String({ minLength: 1, maxLength: 256 }),
          Type.Object(
            {
              path: Type.String({
                minLength: 1,
                maxLength: 4096,
                description:
                  "The model's GGUF file, or the first one of a model that is split; ~ is your home, a relative path starts at this document",
                examples: ["~/models/qwen.gguf"],
              }),
            },
            { ...closed, description: "One model" },
          ),
          { minProperties: 1, maxProperties: 64, description: "The models by the names that routes use" },
        ),
        context_tokens: contextTokens(
          "How many tokens a request and its answer may have together; default what the model was trained with, at most 32768. Each takes memory",
        ),
        temperature: Type.Optional(
          Type.Number({
            minimum: 0,
            maximum: 2,
            description:
              "How freely words are drawn where a request does not say; 0 always takes the likeliest. Small models call tools more reliably with a low one",
            default: 0.8,
          }),
        ),
      },
      {
        ...closed,
        description:
          "Model files that run inside Lares, without a network, on the processor (on Apple's chips with their graphics)",
      },
    ),
    Type.Object(
      { api: Type.Literal("editor", { description: "The models that the editor offers" }) },
      { ...closed, description: "The models that the editor offers, such as those of VS Code" },
    ),
    Type.Object(
      {
        api: Type.Literal("scripted", { description: "Answers from a file" }),
        script: Type.String({
          minLength: 1,
          maxLength: 4096,
          description:
            "The file with the answers, relative to this document. It holds `turns`, of which the first that fits is given once: `{ when: <a part of the last message>, say: <text> }`, with `think`, `call: [{ tool, arguments }]`, `cut: length`, `usage`, `delay_ms`, `repeat: true`, or `error: { class, retry_after_ms }` in place of an answer",
          examples: ["./rehearsal.yaml"],
        }),
      },
      { ...closed, description: "Answers from a file, to try things without a model" },
    ),
  ],
  { description: "How models are reached: api says what language is spoken there" },
);

const Route = Type.Union(
  [
    Reference("The model, as provider/model"),
    Type.Object(
      {
        model: Reference("The model, as provider/model"),
        may_leave: Type.Optional(
          Type.Boolean({
            description:
              "Whether a request meant for a model on this machine may go to a fallback elsewhere; default false",
            default: false,
          }),
        ),
      },
      { ...closed, description: "The model, and whether its requests may leave the machine" },
    ),
  ],
  { description: "The model for this kind of work" },
);

const Dollars = (what: string) =>
  Type.Optional(
    Type.Number({ minimum: 0, maximum: 1_000_000, description: `${what}, in US dollars; default no limit` }),
  );

/** `models:` in the user's document. */
export const Models = Type.Object(
  {
    providers: Type.Optional(
      Type.Record(Type.String({ minLength: 1, maxLength: 64 }), Provider, {
        maxProperties: 64,
        description: "Where models are, by names of your own",
      }),
    ),
    routes: Type.Optional(
      Type.Record(Type.String({ minLength: 1, maxLength: 128 }), Route, {
        maxProperties: 256,
        description:
          "Which model does what: default, channel, branch, worker, worker.<name>, compaction, cortex, or a category such as chat",
      }),
    ),
    fallbacks: Type.Optional(
      Type.Record(
        Type.String({ minLength: 1, maxLength: 322 }),
        Type.Array(Reference("A model that is asked instead"), {
          maxItems: 8,
          description: "The models that are asked instead, in order",
        }),
        {
          maxProperties: 256,
          description:
            "Which models are asked when one is overloaded or cannot be reached, by provider/model",
        },
      ),
    ),
    budgets: Type.Optional(
      Type.Object(
        {
          per_day_usd: Dollars("What all models together may cost a day"),
          per_day_tokens: Type.Optional(
            Type.Integer({
              minimum: 0,
              maximum: 1_000_000_000_000,
              description: "Tokens of all models together a day; default no limit",
            }),
          ),
          per_conversation_usd: Dollars("What one conversation may cost"),
          per_agent_per_day_usd: Dollars("What one agent may cost a day"),
        },
        { ...closed, description: "What models may cost. A request that may exceed it is not sent" },
      ),
    ),
  },
  { ...closed, description: "Language models: where they are, and which of them does what" },
);

export type ModelsDocument = Static<typeof Models>;
export type ProviderDocument = Static<typeof Provider>;
