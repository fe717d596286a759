import { Type, type Static } from "typebox";
import { closed } from "../../base/vocabulary/common.ts";
import { modelFailureClasses } from "../../base/vocabulary/model.ts";

const Text = (description: string) => Type.String({ maxLength: 1_000_000, description });
const Tokens = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000_000, description }));

const Turn = Type.Object(
  {
    process: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: "Only for this kind of process; default any" }),
    ),
    when: Type.Optional(Text("Only where the last message contains this text; default always")),
    think: Type.Optional(Text("What the model thinks before it answers")),
    say: Type.Optional(Text("The answer")),
    call: Type.Optional(
      Type.Array(
        Type.Object(
          {
            tool: Type.String({ minLength: 1, maxLength: 256, description: "The tool's name" }),
            arguments: Type.Optional(Type.Unknown({ description: "Its arguments; default none" })),
          },
          { ...closed, description: "One call" },
        ),
        { maxItems: 64, description: "Tools that the answer calls, in order" },
      ),
    ),
    error: Type.Optional(
      Type.Object(
        {
          class: Type.Union(modelFailureClasses.map((name) => Type.Literal(name))),
          retry_after_ms: Type.Optional(
            Type.Integer({ minimum: 0, maximum: 86_400_000, description: "What the provider asks to wait" }),
          ),
          message: Type.Optional(Text("Why, in words")),
        },
        { ...closed, description: "The request fails so, instead of being answered" },
      ),
    ),
    cut: Type.Optional(
      Type.Union([Type.Literal("length"), Type.Literal("filtered")], {
        description: "The answer ends early, at the model's output limit, or because the rest is withheld",
      }),
    ),
    usage: Type.Optional(
      Type.Object(
        {
          input_tokens: Tokens("Tokens read"),
          output_tokens: Tokens("Tokens written, with reasoning"),
          reasoning_tokens: Tokens("Of these, reasoning"),
          cache_read_tokens: Tokens("Tokens read from a cache"),
          cache_write_tokens: Tokens("Tokens written to a cache"),
        },
        { ...closed, description: "What the provider reports; default an estimate" },
      ),
    ),
    delay_ms: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 600_000, description: "How long nothing comes; default 0" }),
    ),
    repeat: Type.Optional(
      Type.Boolean({ description: "Whether the turn is used again and again; default false" }),
    ),
  },
  { ...closed, description: "One answer" },
);

/** A file with answers for the provider `scripted`. */
export const Script = Type.Object(
  {
    context_tokens: Type.Optional(
      Type.Integer({ minimum: 256, maximum: 100_000_000, description: "The model's window" }),
    ),
    turns: Type.Array(Turn, {
      maxItems: 10_000,
      description: "The answers. The first one that is unspent and fits is given",
    }),
  },
  { ...closed, title: "Answers of a scripted model" },
);
export type ScriptDocument = Static<typeof Script>;
