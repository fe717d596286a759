import type { ModelMessage } from "../base/vocabulary/model.ts";
import { asData, dataNote, headOf, quoted, withoutMiddle } from "./data-text.ts";
import type { CompactionPlan } from "./compaction-plan.ts";
import { summaryText } from "./context.ts";
import { estimateTokens } from "./tokens.ts";
import { type TranscriptItem, transcriptOf } from "./transcript.ts";

/** An interceptor's instructions for a summary. Tainted ones are quoted as data. */
interface CompactionInstructions {
  /** The interceptor's id. */
  readonly by: string;
  readonly text: string;
  readonly isTainted: boolean;
}

interface CompactionInput {
  readonly plan: CompactionPlan;
  /** The role prompt of compactions. */
  readonly prompt: string;
  readonly instructions?: readonly CompactionInstructions[];
  /** The window of the model that writes the summary, in tokens. */
  readonly limit: number;
}

/** The share of the window for the request; the rest is for what the model thinks, and for errors of the estimate. */
const requestShare = 0.85;
const maxInstructionCharacters = 4_000;
/** Code units of each text, tried in turn until the transcript fits. */
const cuts: readonly number[] = [16_000, 8_000, 4_000, 2_000, 1_000, 500, 200];

/**
 * Returns the request for a summary of the covered entries, as a transcript of quoted data. If it does not fit the
 * model's window, the middle of long results is left out first, then that of all texts, then the oldest texts.
 */
export function compactionMessages({
  plan,
  prompt,
  instructions = [],
  limit,
}: CompactionInput): ModelMessage[] {
  const system = prompt === "" ? dataNote : `${prompt}\n\n${dataNote}`;
  const asked = instructions.map(({ by, text, isTainted }) => {
    const heading = `Instructions of ${quoted(by)} for this summary`;
    const shortened = headOf(text, maxInstructionCharacters);
    return isTainted ? asData(heading, shortened) : `${heading}:\n${shortened}`;
  });
  const end = `Write the summary now, in at most ${plan.summaryTokens} tokens.`;
  const fixed = [system, ...asked, end].reduce((sum, text) => sum + estimateTokens(text) + overheadTokens, 0);
  const room = Math.floor(limit * requestShare) - plan.summaryTokens - fixed;

  const earlier = plan.merged.map((summary) => ({ summary, text: summaryText(summary) }));
  const summaries = fitted(
    earlier.map(({ text }) => ({ heading: "", text, isResult: true })),
    room / 2,
  );
  const transcript = fitted(transcriptOf(plan.covered), room - tokensOf(summaries));
  const texts = [
    ...(summaries.length === 0 ? [] : [`Earlier summaries, which yours replaces:\n${summaries.join("\n")}`]),
    `The conversation:\n${transcript.join("\n")}`,
    ...asked,
    end,
  ];
  return [
    { role: "system", text: system },
    { role: "user", parts: texts.map((text) => ({ type: "text", text })) },
  ];
}

const overheadTokens = 16;

/** Returns the items as quoted data within so many tokens. */
function fitted(items: readonly TranscriptItem[], room: number): string[] {
  const whole = items.map((item) => counted(shown(item, Number.MAX_SAFE_INTEGER)));
  let last = whole;
  if (sumOf(last) <= room) return last.map(({ text }) => text);
  for (const isEnough of [({ isResult }: TranscriptItem) => isResult, () => true])
    for (const length of cuts) {
      last = items.map((item, index) => {
        const asWhole = whole[index] ?? counted("");
        return isEnough(item) && item.text.length > length ? counted(shown(item, length)) : asWhole;
      });
      if (sumOf(last) <= room) return last.map(({ text }) => text);
    }
  return newest(
    last.map(({ text }) => text),
    room,
  );
}

/** A text with its tokens, so that what stays whole is counted once. */
interface Counted {
  readonly text: string;
  readonly tokens: number;
}

const counted = (text: string): Counted => ({ text, tokens: estimateTokens(text) + 1 });
const sumOf = (texts: readonly Counted[]): number => texts.reduce((sum, { tokens }) => sum + tokens, 0);

function newest(texts: readonly string[], room: number): string[] {
  const note = (count: number): string => `[${count} older texts are left out here]`;
  let first = texts.length;
  let left = room - estimateTokens(note(texts.length)) - 1;
  while (first > 0) {
    left -= tokensOf([texts[first - 1] ?? ""]);
    if (left < 0) break;
    first--;
  }
  return first === 0 ? [...texts] : [note(first), ...texts.slice(first)];
}

function shown({ heading, text }: TranscriptItem, length: number): string {
  if (heading !== "") return asData(heading, withoutMiddle(text, length));
  return text.length <= length ? text : asData("a text that was shortened", withoutMiddle(text, length));
}

const tokensOf = (texts: readonly string[]): number => sumOf(texts.map(counted));
