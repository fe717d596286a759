import type { AnswerCut } from "../base/cut-answer.ts";
import type {
  ModelAnswerPart,
  ModelEvent,
  ModelFailureClass,
  ModelMessage,
  ModelRequest,
  ModelUsage,
} from "../base/vocabulary/model.ts";
import { estimatedInputTokens } from "./cost.ts";

/** One answer of a script; the document says what each field means. */
export interface ScriptedTurn {
  readonly process?: string;
  readonly when?: string;
  readonly think?: string;
  readonly say?: string;
  readonly call?: readonly { readonly tool: string; readonly arguments?: unknown }[];
  readonly cut?: AnswerCut;
  readonly error?: {
    readonly class: ModelFailureClass;
    readonly retry_after_ms?: number;
    readonly message?: string;
  };
  readonly usage?: Partial<ModelUsage>;
  readonly delay_ms?: number;
  readonly repeat?: boolean;
}

interface ScriptedPorts {
  /** Whether this turn was given before, in this kernel or an earlier one. */
  isSpent(turn: number): boolean;
  /** Resolves once it is stored that the turn was given; the answer's last event waits for it. */
  spend(turn: number): Promise<void>;
  /** Returns after the time, or as soon as the signal is aborted. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

/** Answers one request from a script: the first turn that is unspent and fits. `process`: the kind that asks, if one does. */
export async function* scriptedAnswer(
  turns: readonly ScriptedTurn[],
  request: ModelRequest,
  process: string | null,
  ports: ScriptedPorts,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void> {
  const last = lastText(request.messages);
  const index = turns.findIndex(
    (turn, at) =>
      !ports.isSpent(at) &&
      (turn.process === undefined || turn.process === process) &&
      last.includes(turn.when ?? ""),
  );
  const turn = turns[index];
  if (turn === undefined)
    return yield {
      type: "failed",
      failure: {
        class: "InvalidRequest",
        message: `No turn of the script is left for ${process === null ? "this request" : `a ${process}`}. Add one to the script.`,
      },
    };
  yield { type: "sent" };
  if (turn.delay_ms !== undefined) await ports.wait(turn.delay_ms, signal);
  if (signal.aborted)
    return yield {
      type: "failed",
      failure: { class: "Cancelled", message: "The request was cancelled." },
    };
  const { error } = turn;
  if (error === undefined) yield* deltas(turn, index);
  if (turn.repeat !== true) await ports.spend(index);
  if (error !== undefined) {
    const { class: failure, message = "The script says so.", retry_after_ms: wait } = error;
    yield {
      type: "failed",
      failure: { class: failure, message, ...(wait === undefined ? {} : { retry_after_ms: wait }) },
    };
    return;
  }
  const parts = partsOf(turn, index);
  yield {
    type: "done",
    parts,
    finish: turn.cut ?? (parts.some(({ type }) => type === "tool_call") ? "tool_calls" : "stop"),
    usage: {
      input_tokens: estimatedInputTokens(request),
      output_tokens: Math.ceil(JSON.stringify(parts).length / 4),
      ...turn.usage,
    },
  };
}

function partsOf({ think, say, call = [] }: ScriptedTurn, index: number): ModelAnswerPart[] {
  return [
    ...(think === undefined ? [] : [{ type: "reasoning" as const, text: think }]),
    ...(say === undefined ? [] : [{ type: "text" as const, text: say }]),
    ...call.map(({ tool, arguments: given = {} }, at) => ({
      type: "tool_call" as const,
      call: `script_${index}_${at}`,
      tool,
      arguments: given,
    })),
  ];
}

/** Word by word, as models write, so that what shows an answer early can be seen to do it. */
function* deltas(turn: ScriptedTurn, index: number): Generator<ModelEvent, void> {
  for (const part of partsOf(turn, index))
    if (part.type === "tool_call")
      yield { type: "tool_call", call: part.call, tool: part.tool, text: JSON.stringify(part.arguments) };
    else for (const text of part.text.match(/(?<!\s)\s*\S+(?:\s+$)?/g) ?? []) yield { type: part.type, text };
}

/** Returns the text of the last message but for the suffix of a conversation's context, which is a late system message. */
function lastText(messages: readonly ModelMessage[]): string {
  const message = messages.findLast(({ role }) => role !== "system") ?? messages.at(-1);
  if (message === undefined) return "";
  if (message.role === "system") return message.text;
  return message.parts.map((part) => ("text" in part ? part.text : "")).join("\n");
}
