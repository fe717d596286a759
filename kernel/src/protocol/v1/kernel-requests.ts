import { Type, type Static } from "typebox";
import { closed, Json } from "../../base/vocabulary/common.ts";
import { define } from "../define.ts";

const Text = (description: string) => Type.String({ description });
const Count = (description: string) => Type.Integer({ minimum: 0, description });
const Kind = <Name extends string>(name: Name) => Type.Literal(name, { description: "What the part is" });

const Message = Type.Object(
  {
    role: Type.Union([Type.Literal("system"), Type.Literal("user"), Type.Literal("assistant")], {
      description: "Who says it; results of tools are said by the user",
    }),
    parts: Type.Array(
      Type.Union([
        Type.Object({ type: Kind("text"), text: Text("The text") }),
        Type.Object({
          type: Kind("tool_call"),
          call: Text("The call's id"),
          tool: Text("The tool's name"),
          arguments: Json("The arguments"),
        }),
        Type.Object({
          type: Kind("tool_result"),
          call: Text("The id of the call that it answers"),
          text: Text("What the tool answered"),
        }),
      ]),
      { description: "What is said" },
    ),
  },
  { description: "One message" },
);

/** What a client's language model says, as it says it. */
export const GeneratedPart = Type.Union([
  Type.Object({ text: Type.String({ maxLength: 1_048_576, description: "Text of the answer" }) }, closed),
  Type.Object(
    {
      tool_call: Type.Object(
        {
          call: Type.String({ minLength: 1, maxLength: 256, description: "The call's id" }),
          tool: Type.String({
            minLength: 1,
            maxLength: 256,
            description: "One of the tools that were offered",
          }),
          arguments: Json("The arguments"),
        },
        { ...closed, description: "A tool that the model calls" },
      ),
    },
    closed,
  ),
]);
export type GeneratedPart = Static<typeof GeneratedPart>;

/** What the kernel asks of a client, beside the requests of the Language Server Protocol. */
export const kernelRequests = define({
  "lares/models/offered": {
    about:
      "Asks which language models the client has now. A client that says it has language models and does not know this request has one that is called `default`.",
    errors: {},
    params: Type.Object({}),
    result: Type.Object({
      models: Type.Array(
        Type.Object({
          id: Type.String({ minLength: 1, maxLength: 256, description: "The model's id at the client" }),
          context_tokens: Type.Optional(Count("Tokens that a request may have")),
        }),
        { maxItems: 200, description: "The models, the one that answers for `default` first" },
      ),
    }),
  },
  "lares/models/generate": {
    about:
      "Asks a language model of the client. Only a trusted client whose `capabilities.experimental.lares.languageModels` is true is asked; of several, the one that connected last. What the model says comes as `$/progress` with `partialResultToken`: `{ text }` or `{ tool_call: { call, tool, arguments } }`; the answer follows after the last of them. `$/cancelRequest` ends it.",
    errors: {
      ModelError:
        "No model answered. `data.class` says why: one of the classes of `ModelError`, such as `Unauthorized` where the person did not consent.",
    },
    params: Type.Object({
      model: Type.String({
        description: 'The model\'s id, as the client knows it; "default": one that the client chooses',
      }),
      messages: Type.Array(Message, { description: "The conversation so far" }),
      tools: Type.Optional(
        Type.Array(
          Type.Object({
            name: Text("Its name"),
            description: Text("What it does"),
            parameters: Type.Record(Type.String(), Type.Unknown(), { description: "A JSON Schema" }),
          }),
          { description: "The tools that the model may call; a call of another is an error" },
        ),
      ),
      max_output_tokens: Type.Optional(Count("Tokens of the answer at most")),
      temperature: Type.Optional(Type.Number({ description: "How freely it chooses words" })),
      partialResultToken: Text("The token of what it says"),
    }),
    result: Type.Object({
      finish: Type.Union([Type.Literal("stop"), Type.Literal("length"), Type.Literal("filtered")], {
        description: "Why the answer ended",
      }),
      usage: Type.Optional(
        Type.Object(
          {
            input_tokens: Count("Tokens of the request"),
            output_tokens: Count("Tokens of the answer"),
          },
          { description: "Tokens as the client counted them; default an estimate" },
        ),
      ),
    }),
  },
});
export type GenerateParams = Static<(typeof kernelRequests)["lares/models/generate"]["params"]>;
export type OfferedResult = Static<(typeof kernelRequests)["lares/models/offered"]["result"]>;
export type GenerateResult = Static<(typeof kernelRequests)["lares/models/generate"]["result"]>;
