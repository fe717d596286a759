import { isJsonObject } from "../base/json.ts";
import type { MindDefinition } from "../base/vocabulary/mind.ts";
import type { ModelTool } from "../base/vocabulary/model.ts";
import type { ProcessKind } from "../base/vocabulary/principal.ts";
import { maxScheduledCharacters } from "./schedule-tool.ts";

/** The tools that the kernel itself gives to processes. */
const processToolNames = [
  "branch",
  "spawn_worker",
  "route",
  "cancel",
  "schedule",
  "block_edit",
  "read_skill",
  "set_status",
  "channel_recall",
  "memory_recall",
  "memory_save",
] as const;
export type ProcessTool = (typeof processToolNames)[number];

const text = (description: string, maxLength = 100_000) => ({
  type: "string",
  minLength: 1,
  maxLength,
  description,
});
const tool = (
  name: ProcessTool,
  description: string,
  properties: Record<string, unknown>,
  required: readonly string[],
): ModelTool => ({
  name,
  description,
  parameters: { type: "object", properties, required, additionalProperties: false },
});

const kindsWith: Readonly<Record<ProcessTool, readonly ProcessKind[]>> = {
  branch: ["channel"],
  spawn_worker: ["channel", "branch"],
  route: ["channel"],
  cancel: ["channel"],
  schedule: ["channel"],
  block_edit: ["channel", "cortex"],
  read_skill: ["channel", "worker"],
  set_status: ["worker"],
  channel_recall: ["branch"],
  memory_recall: ["branch", "cortex"],
  memory_save: ["branch", "compaction", "cortex"],
};

const toolsOfMinds = new WeakMap<MindDefinition, Map<ProcessKind, ModelTool[]>>();

/** Returns the kernel's tools that a process of this kind has: the same objects for all processes of the kind and mind. */
export function processTools(kind: ProcessKind, mind: MindDefinition): readonly ModelTool[] {
  const known = toolsOfMinds.get(mind) ?? new Map<ProcessKind, ModelTool[]>();
  toolsOfMinds.set(mind, known);
  let tools = known.get(kind);
  if (tools === undefined) {
    tools = processToolNames.flatMap((name) => {
      if (!kindsWith[name].includes(kind)) return [];
      if (name === "read_skill" && mind.skills.length === 0) return [];
      if (name === "block_edit" && !mind.blocks.some(({ isReadOnly }) => !isReadOnly)) return [];
      return [definitionOf(name, mind, kind)];
    });
    known.set(kind, tools);
  }
  return tools;
}

export function isProcessTool(name: string): name is ProcessTool {
  return processToolNames.some((known) => known === name);
}

/** Returns a sentence that names an argument whose text is longer than the tool's schema allows; null if there is none. */
export function tooLongText(tool: ModelTool, args: Readonly<Record<string, unknown>>): string | null {
  const { properties } = tool.parameters;
  if (!isJsonObject(properties)) return null;
  for (const [name, schema] of Object.entries(properties)) {
    const most = isJsonObject(schema) ? schema["maxLength"] : undefined;
    const value = args[name];
    if (typeof most === "number" && typeof value === "string" && value.length > most)
      return `The argument "${name}" has ${value.length} characters; at most ${most} are taken.`;
  }
  return null;
}

function definitionOf(name: ProcessTool, mind: MindDefinition, kind: ProcessKind): ModelTool {
  switch (name) {
    case "branch":
      return tool(
        name,
        "Thinks about a question with everything that was said here, and remembers or looks up what is needed. Returns at once; the conclusion comes later, by itself.",
        { task: text("The question, with what a good conclusion must contain") },
        ["task"],
      );
    case "spawn_worker":
      return tool(
        name,
        `Gives a task to a worker, which knows nothing of this conversation. Returns at once; the report comes later, by itself.${kindsOfWorkers(mind)}${followUpsOf(mind, kind)}`,
        {
          task: text("The whole task: what to do, with which files, and what to report"),
          ...(mind.workers.length === 0
            ? {}
            : {
                kind: {
                  type: "string",
                  enum: mind.workers.map((worker) => worker.name),
                  description: "The kind of worker",
                },
              }),
          ...(kind === "branch"
            ? {
                wait: {
                  type: "boolean",
                  description: "Wait for its report before you continue; default false",
                },
              }
            : {}),
        },
        ["task"],
      );
    case "route":
      return tool(
        name,
        mind.workers.some(({ isInteractive }) => isInteractive)
          ? "Sends a message to a process that runs, as a follow-up to its task, or to a worker that has reported and waits for a follow-up: it works on with what it knows, and reports again."
          : "Sends a message to a process that runs, as a follow-up to its task.",
        { process: text("The id of the process", 128), text: text("The message") },
        ["process", "text"],
      );
    case "cancel":
      return tool(
        name,
        "Stops a process and everything that it started.",
        { process: text("The id of the process", 128), reason: text("Why", 1_000) },
        ["process"],
      );
    case "schedule":
      return tool(
        name,
        "Sends you a message at certain times, which begins a conversation of its own; the person is told your answer. What you add waits until the person has accepted it.",
        {
          op: { type: "string", enum: ["add", "list", "remove"], description: "What to do" },
          prompt: text(
            "For add: the message, which has to be understood without this conversation",
            maxScheduledCharacters,
          ),
          cron: text('For add: "minute hour day month weekday", such as 0 8 * * MON-FRI', 256),
          at: text(
            "For add, instead of cron: one time with its offset, such as 2026-12-01T09:00:00+01:00",
            64,
          ),
          timezone: text("For cron: an IANA name, such as Europe/Berlin; default this machine's", 128),
          active_hours: text("For cron: runs outside of these hours are left out, such as 08:00-20:00", 11),
          id: text("For remove: the schedule's id", 128),
        },
        ["op"],
      );
    case "block_edit":
      return tool(
        name,
        `Changes a block of the context: replaces the text "find" in it, or, without that, the whole of it.${mind.blocks
          .filter(({ isReadOnly }) => !isReadOnly)
          .map(
            (block) => ` ${block.name} (at most ${block.limitCharacters} characters): ${block.description}.`,
          )
          .join("")}`,
        {
          name: {
            type: "string",
            enum: mind.blocks.filter(({ isReadOnly }) => !isReadOnly).map((block) => block.name),
            description: "The block",
          },
          find: text("A text that is in the block once", 20_000),
          replace: { type: "string", maxLength: 20_000, description: "What stands there from now on" },
        },
        ["name", "replace"],
      );
    case "read_skill":
      return tool(
        name,
        "Returns the instructions of a skill. Read it before you do what it is about.",
        {
          name: { type: "string", enum: mind.skills.map((skill) => skill.name), description: "The skill" },
        },
        ["name"],
      );
    case "set_status":
      return tool(
        name,
        "Says in a few words how far the task is, for the person who waits.",
        { text: text("The status", 200) },
        ["text"],
      );
    case "channel_recall":
      return tool(
        name,
        "Searches what was said earlier, also before what was summarised; or reads a found entry, of which a search may show only a part.",
        {
          query: text("Words that were used, or a question", 1_000),
          conversation: text("The id of another conversation; default this one", 128),
          limit: { type: "integer", minimum: 1, maximum: 50, description: "At most so many; default 10" },
          entry: {
            type: "integer",
            minimum: 1,
            description: "Instead of query: the seq of an entry to read",
          },
          offset: {
            type: "integer",
            minimum: 0,
            description: "With entry: the character to begin with; default 0",
          },
        },
        [],
      );
    case "memory_recall":
      return tool(
        name,
        "Searches what you know from earlier conversations.",
        {
          query: text("What it is about", 1_000),
          limit: { type: "integer", minimum: 1, maximum: 50, description: "At most so many; default 10" },
        },
        ["query"],
      );
    case "memory_save":
      return tool(
        name,
        "Remembers something beyond this conversation.",
        {
          type: {
            type: "string",
            enum: ["Fact", "Observation", "Goal", "Event", "Todo", "Decision", "Preference", "Identity"],
            description:
              "What it is. Identity, Preference and Decision only as a quotation of whole sentences that the person wrote, word by word",
          },
          text: text("One statement that is understood on its own", 4_000),
          importance: {
            type: "number",
            minimum: 0,
            maximum: 1,
            description: "How much it matters; default 0.5",
          },
          about: text("Whom or what it is about", 200),
          ...(kind === "cortex"
            ? {
                replaces: {
                  type: "array",
                  maxItems: 20,
                  items: { type: "string", minLength: 1, maxLength: 128 },
                  description:
                    "The ids of memories that this one takes the place of: nobody recalls them any more. Tainted ones and others are not merged",
                },
              }
            : {}),
        },
        ["type", "text"],
      );
  }
}

function kindsOfWorkers({ workers }: MindDefinition): string {
  return workers.length === 0
    ? ""
    : ` Kinds: ${workers.map(({ name, description }) => `${name} (${description})`).join(", ")}.`;
}

function followUpsOf({ workers }: MindDefinition, of: ProcessKind): string {
  const names = workers.flatMap(({ name, isInteractive }) => (isInteractive ? [name] : []));
  if (names.length === 0) return "";
  const how =
    of === "channel"
      ? "give it a follow-up, or the answer to its question, with route, or end it with cancel"
      : "with wait, it ends with its report";
  return ` After its report, a worker of the kind ${names.join(" or ")} keeps what it knows and waits: ${how}.`;
}
