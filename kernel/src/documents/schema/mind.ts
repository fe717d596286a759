import { Type, type Static } from "typebox";
import { closed } from "../../base/vocabulary/common.ts";
import { durationPattern } from "./durations.ts";

/** Files of a mind, each at most. */
export const maxMindFileBytes = 256 * 1024;
/** All files of a mind together. */
export const maxMindBytes = 4 * 1024 * 1024;
export const maxSkills = 64;

const File = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: 1024, description, examples: [example] });
export const PromptFile = File("A text file, beneath the manifest's folder", "prompts/morning.md");
const Count = (maximum: number, description: string, fallback: number) =>
  Type.Integer({
    minimum: 1,
    maximum,
    description: `${description}; default ${fallback}`,
    default: fallback,
  });
const Share = (description: string, fallback: number) =>
  Type.Number({
    minimum: 0.1,
    maximum: 0.99,
    description: `${description}; default ${fallback}`,
    default: fallback,
  });
const Tools = (description: string) =>
  Type.Array(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description: "extension.id/tool, extension.id/*, or one of the kernel's own, as files/read or files/*",
      examples: ["files/*", "files/read"],
    }),
    { maxItems: 256, description },
  );

const Prompts = Type.Object(
  {
    channel: Type.Optional(File("For the process that talks to the person", "prompts/channel.md")),
    branch: Type.Optional(File("For the processes that think about one question", "prompts/branch.md")),
    worker: Type.Optional(File("For the processes that do one task", "prompts/worker.md")),
    compaction: Type.Optional(
      File("For the processes that summarise what no longer fits", "prompts/compaction.md"),
    ),
    cortex: Type.Optional(File("For the process that looks after the whole", "prompts/cortex.md")),
  },
  {
    ...closed,
    description:
      "The instructions of each kind of process, by files in the extension; default those of Lares",
  },
);

const Block = Type.Object(
  {
    name: Type.String({
      pattern: "^[a-z][a-z0-9_-]{0,63}$",
      description: "What the mind calls it by: lower case letters, digits, dashes",
    }),
    description: Type.String({ maxLength: 1024, description: "What belongs in it, for the model" }),
    limit: Type.Optional(Count(20_000, "Characters that it may hold", 4000)),
    read_only: Type.Optional(
      Type.Boolean({ description: "Whether the mind may only read it; default false", default: false }),
    ),
    scope: Type.Optional(
      Type.Union(
        [
          Type.Literal("mind", { description: "One text for all conversations" }),
          Type.Literal("conversation", { description: "A text for each conversation" }),
        ],
        { description: "Where it is kept; default mind", default: "mind" },
      ),
    ),
    namespace: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 128,
        pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$",
        description:
          "A shared memory that it is kept in instead, by its name under shared_namespaces in lares.yaml: one text for all minds with a block of this name there",
      }),
    ),
  },
  { ...closed, description: "A text that stays in the context, and that the mind edits" },
);

const Worker = Type.Object(
  {
    description: Type.String({
      minLength: 1,
      maxLength: 1024,
      description: "What it is good for: the mind chooses by it",
    }),
    prompt: Type.Optional(File("Its instructions; default those of prompts.worker", "prompts/research.md")),
    tools: Type.Optional(Tools("Tools that it gets, of those that the mind may use; default all of them")),
    max_turns: Type.Optional(
      Count(1000, "Requests to the model for one task, and again for each follow-up", 50),
    ),
    interactive: Type.Optional(
      Type.Boolean({
        description:
          "Whether it waits for follow-ups after its report, for an hour at most, instead of ending; default false",
        default: false,
      }),
    ),
    at_once: Type.Optional(Count(64, "How many of this kind run at once in a conversation", 4)),
  },
  { ...closed, description: "A kind of worker" },
);

/** `extension.mind` as written. */
export const Mind = Type.Object(
  {
    identity: Type.Optional(
      Type.Array(File("A text file, beneath the manifest's folder", "SOUL.md"), {
        maxItems: 32,
        uniqueItems: true,
        description: "Who it is: files that every process of it reads first, in this order",
      }),
    ),
    prompts: Type.Optional(Prompts),
    skills: Type.Optional(
      Type.Array(
        Type.String({
          minLength: 1,
          maxLength: 1024,
          description: "A folder with a SKILL.md, or a glob for such folders",
          examples: ["skills/*"],
        }),
        {
          maxItems: 32,
          description: `Skills: name and description are in the context, the rest is read when it is needed; at most ${maxSkills}`,
        },
      ),
    ),
    tools: Type.Optional(Tools("Tools that its workers may get; default none")),
    direct_tools: Type.Optional(
      Tools("Tools that the channel uses itself; default none: it has others do the work"),
    ),
    blocks: Type.Optional(Type.Array(Block, { maxItems: 32, description: "Texts that stay in the context" })),
    channel: Type.Optional(
      Type.Object(
        { max_turns: Type.Optional(Count(1000, "Requests to the model for one message", 5)) },
        { ...closed, description: "The process that talks to the person" },
      ),
    ),
    branches: Type.Optional(
      Type.Object(
        {
          at_once: Type.Optional(Count(64, "How many run at once in a conversation", 4)),
          max_turns: Type.Optional(Count(1000, "Requests to the model for one question", 10)),
        },
        { ...closed, description: "The processes that think about one question" },
      ),
    ),
    workers: Type.Optional(
      Type.Record(Type.String({ minLength: 1, maxLength: 64 }), Worker, {
        maxProperties: 32,
        description: "Kinds of workers, by the names that the mind calls them",
      }),
    ),
    compaction: Type.Optional(
      Type.Object(
        {
          background: Type.Optional(Share("A summary is made in the background", 0.8)),
          aggressive: Type.Optional(Share("A shorter summary is made at once", 0.85)),
          emergency: Type.Optional(Share("The oldest turns are left out without a model", 0.95)),
        },
        {
          ...closed,
          description: "At which share of the model's window the conversation is made shorter, ascending",
        },
      ),
    ),
    cortex: Type.Optional(
      Type.Object(
        {
          every: Type.Optional(
            Type.String({
              pattern: durationPattern,
              maxLength: 32,
              description: "How often memories are put in order, from 1m to 30d; default 1h",
              default: "1h",
              examples: ["30m", "1d"],
            }),
          ),
          bulletin_tokens: Type.Optional(Count(10_000, "Length of the bulletin, tokens", 700)),
        },
        { ...closed, description: "The process that looks after all conversations" },
      ),
    ),
  },
  { ...closed, description: "The part that talks to a language model: people can talk to the extension" },
);
export type Mind = Static<typeof Mind>;
export type MindWorker = Static<typeof Worker>;
