import { Type, type Static } from "typebox";

export const ProviderListing = Type.Object(
  {
    id: Type.String({ description: "The provider's name in references, before the slash" }),
    api: Type.Union(
      [
        Type.Literal("anthropic"),
        Type.Literal("openai"),
        Type.Literal("openai-chat"),
        Type.Literal("google"),
        Type.Literal("openai-compatible"),
        Type.Literal("ollama"),
        Type.Literal("llama"),
        Type.Literal("editor"),
        Type.Literal("scripted"),
      ],
      { description: "What language is spoken there" },
    ),
    state: Type.Union(
      [
        Type.Literal("ready", { description: "It answered, or needs no connection" }),
        Type.Literal("no_key", { description: "Its key is not stored" }),
        Type.Literal("unreachable", { description: "It did not answer, or not with its models" }),
        Type.Literal("unknown", { description: "It was not asked" }),
      ],
      { description: "Whether it can be used" },
    ),
    problem: Type.Optional(
      Type.String({
        description: "What is wrong with it and what to do, in one sentence; absent if nothing is known",
        examples: ['The secret "anthropic" is not stored.'],
      }),
    ),
    local: Type.Boolean({ description: "It runs on this machine" }),
    found_by: Type.Optional(
      Type.String({
        description:
          "Absent for a provider of the user's document. Otherwise how it was found; a person is asked before it is used",
        examples: ["the key in ANTHROPIC_API_KEY"],
      }),
    ),
  },
  { description: "A provider of language models" },
);
export type ProviderListing = Static<typeof ProviderListing>;

const Dollars = (description: string) => Type.Optional(Type.Number({ minimum: 0, description }));
const Tokens = (description: string) => Type.Optional(Type.Integer({ minimum: 1, description }));
const Ability = (description: string) => Type.Optional(Type.Boolean({ description }));

export const ModelListing = Type.Object(
  {
    id: Type.String({ description: "`provider/model`" }),
    context_tokens: Tokens("Tokens of a request and its answer together"),
    max_output_tokens: Tokens("Tokens of an answer"),
    input_usd_per_mtok: Dollars("US dollars for a million tokens of requests"),
    output_usd_per_mtok: Dollars("US dollars for a million tokens of answers"),
    tools: Ability("It can call tools"),
    images: Ability("It reads images"),
    reasoning: Ability("It reasons before it answers"),
  },
  { description: "A language model; a field is absent if nothing is known about it" },
);
export type ModelListing = Static<typeof ModelListing>;

/** What a provider itself says about a model in its list. */
export type ListedFacts = Pick<
  ModelListing,
  "context_tokens" | "max_output_tokens" | "tools" | "images" | "reasoning"
>;

export const ModelsListing = Type.Object({
  providers: Type.Array(ProviderListing, { description: "The providers" }),
  models: Type.Array(ModelListing, {
    description: "The models: those that routes name, and those that a catalogue or the provider lists",
  }),
  routes: Type.Record(Type.String(), Type.String(), {
    description: "Which model does what: `provider/model` by the route's name",
  }),
});
export type ModelsListing = Static<typeof ModelsListing>;

export const ModelTestResult = Type.Object({
  ok: Type.Boolean({ description: "The model answered" }),
  first_token_ms: Type.Optional(
    Type.Number({ minimum: 0, description: "Milliseconds until the first token of the answer" }),
  ),
  error: Type.Optional(
    Type.Object(
      {
        class: Type.String({ description: "The class of the failure, such as `Unauthorized` or `NoKey`" }),
        message: Type.String({ description: "What is wrong and what to do, in one sentence" }),
      },
      { description: "Why it did not answer" },
    ),
  ),
});
export type ModelTestResult = Static<typeof ModelTestResult>;
