import { type AnswerCut, cutWords } from "../../base/cut-answer.ts";
import type { Conversation, Process } from "../../base/vocabulary/conversation.ts";
import { errorLines, exitCodes } from "../command.ts";
import { oneLine } from "../render/foreign.ts";
import type { KernelClient } from "../kernel-client.ts";
import type { OpenedChat } from "./open.ts";
import type { Terminal } from "../terminal.ts";

export type Failure = NonNullable<Process["error"]>;

/** How a question ended. */
export interface Outcome {
  readonly code: number;
  /** The text of the last answer. */
  readonly text: string;
  /** Why the answer is missing or incomplete. */
  readonly error: Failure | null;
  /** Why the last answer ends early, though its turn did not fail. */
  readonly cut: AnswerCut | null;
  /** Branches and workers that failed. */
  readonly failed: readonly {
    readonly process: string;
    readonly kind: Process["kind"];
    readonly task: string;
    readonly error: Failure;
  }[];
  /** Decisions that the conversation waits for. */
  readonly waiting: readonly {
    readonly kind: "action" | "ask";
    readonly id: string;
    readonly title: string;
  }[];
  readonly conversation: Conversation;
}

/** Returns the exit code of a question. */
export function codeOf(
  error: Failure | null,
  cut: AnswerCut | null,
  waiting: number,
  failed: number,
): number {
  if (error !== null) return exitCodes.failed;
  if (waiting > 0) return exitCodes.waiting;
  if (cut !== null) return exitCodes.cut;
  return failed > 0 ? exitCodes.incomplete : exitCodes.ok;
}

/** Returns what is wrong with an answer, and what waits for a person with how to decide it. */
export function outcomeLines(
  { error, cut, waiting, conversation }: Outcome,
  { again, place }: Pick<OpenedChat, "again" | "place">,
  terminal: Terminal,
): string[] {
  return [
    ...(error !== null && !terminal.interrupted.aborted ? errorLines(error.message, terminal) : []),
    ...(cut === null ? [] : [cutWords(cut)]),
    ...waiting.flatMap((each) => [`Waits for you: ${oneLine(each.title)}`, ...commandsFor(each, place)]),
    ...(waiting.length === 0 ? [] : [`Decide with: ${again} --resume ${conversation.id.slice(-8)}`]),
  ];
}

/** A script that got no answer needs the id; a person should see the change before they approve it. */
function commandsFor({ kind, id }: Outcome["waiting"][number], place: string): string[] {
  const name = oneLine(id);
  return kind === "action"
    ? [
        `  see it:     lares actions${place} show ${name}`,
        `  approve it: lares actions${place} approve ${name}`,
      ]
    : [`  allow it:   lares asks${place} allow ${name}`];
}

/** Returns the paths that were changed without asking, because a person had decided so before. */
export async function changedUnasked(
  kernel: Pick<KernelClient, "action">,
  actions: Iterable<string>,
): Promise<string[]> {
  const paths = new Set<string>();
  for (const id of actions) {
    const action = await kernel.action(id).catch(() => null);
    if (action?.state === "Committed" && action.decided_by === "policy")
      for (const { path } of action.effects) paths.add(path);
  }
  return [...paths];
}

export function unaskedLine(path: string): string {
  return `changed without asking, as you decided before: ${oneLine(path)}`;
}
