import type { MindDefinition } from "../base/vocabulary/mind.ts";
import type { ModelTool } from "../base/vocabulary/model.ts";
import type { Process } from "../base/vocabulary/conversation.ts";
import type { ProcessKind } from "../base/vocabulary/principal.ts";
import type { ModelUse } from "../models/routing.ts";
import { processTools } from "./process-tools.ts";

/** The differences between kinds of processes; everything else is the same for all. */
interface Kind {
  /** Its role prompt. */
  prompt(mind: MindDefinition, process: Pick<Process, "name" | "interactive">): string;
  /** Patterns of the tools that it has besides the kernel's own. */
  tools(mind: MindDefinition, name: string | undefined): readonly string[];
  /** Requests in a row, until one without tools has to be the last. */
  maxTurns(mind: MindDefinition, name: string | undefined): number;
  /** The effect of an answer without a call: a channel rests, the others end with it. */
  readonly end: "rest" | "conclusion";
  /** An action that needs a person does not stop it: it continues, and learns the decision later. */
  readonly goesOn: boolean;
  /** It stops when the person said no several times in a row. */
  readonly pauses: boolean;
  readonly isIdentified: boolean;
  use(process: Process, chosen: string): ModelUse;
}

const workerOf = (mind: MindDefinition, name: string | undefined) =>
  mind.workers.find((worker) => worker.name === name);
/** The instruction for a worker that does not end with its report. */
const askedFurther =
  "You can be asked further. When you have answered, you keep what you know, and a follow-up may come as a message. If you need a decision or a fact to continue, end your answer with that question instead of guessing.";
/** Where a manifest names no kinds of workers. */
const defaultWorkerTurns = 50;

const task =
  (process: "worker" | "compaction" | "cortex") =>
  ({ name }: Process): ModelUse => ({ kind: "task", process, ...(name === undefined ? {} : { name }) });
const talk =
  (process: "channel" | "branch") =>
  (_process: Process, chosen: string): ModelUse => ({
    kind: "talk",
    process,
    ...(chosen === "" ? {} : { chosen }),
  });

export const kinds: Readonly<Record<ProcessKind, Kind>> = {
  channel: {
    prompt: (mind) => mind.prompts.channel,
    tools: (mind) => mind.directTools,
    maxTurns: (mind) => mind.channel.maxTurns,
    end: "rest",
    goesOn: true,
    pauses: true,
    isIdentified: true,
    use: talk("channel"),
  },
  branch: {
    prompt: (mind) => mind.prompts.branch,
    tools: () => [],
    maxTurns: (mind) => mind.branches.maxTurns,
    end: "conclusion",
    goesOn: false,
    pauses: true,
    isIdentified: true,
    use: talk("branch"),
  },
  worker: {
    prompt: (mind, { name, interactive }) => {
      const prompt = workerOf(mind, name)?.prompt ?? mind.prompts.worker;
      return interactive === true ? `${prompt}\n\n${askedFurther}` : prompt;
    },
    tools: (mind, name) => workerOf(mind, name)?.tools ?? mind.tools,
    maxTurns: (mind, name) => workerOf(mind, name)?.maxTurns ?? defaultWorkerTurns,
    end: "conclusion",
    goesOn: false,
    pauses: true,
    isIdentified: false,
    use: task("worker"),
  },
  compaction: {
    prompt: (mind) => mind.prompts.compaction,
    tools: () => [],
    maxTurns: () => 3,
    end: "conclusion",
    goesOn: false,
    pauses: false,
    isIdentified: false,
    use: task("compaction"),
  },
  cortex: {
    prompt: (mind) => mind.prompts.cortex,
    tools: () => [],
    maxTurns: () => 10,
    end: "conclusion",
    goesOn: false,
    pauses: false,
    isIdentified: true,
    use: task("cortex"),
  },
};

/** Returns all tools that a process of this kind is offered. */
export function toolsOf(
  { kind, name }: Pick<Process, "kind" | "name">,
  mind: MindDefinition,
  list: (patterns: readonly string[], within: readonly string[]) => readonly ModelTool[],
): ModelTool[] {
  const patterns = kinds[kind].tools(mind, name);
  return [...processTools(kind, mind), ...list(patterns, kind === "worker" ? mind.tools : patterns)];
}
