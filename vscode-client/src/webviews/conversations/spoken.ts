import { cutWords } from "../../../../kernel/src/base/cut-answer.ts";
import { plainLine } from "../../../../kernel/src/base/plain-text.ts";
import type { Card } from "../review/messages.ts";
import { cut } from "../shared/label.ts";
import { line } from "../shared/text.ts";
import type { ShownEntry, ShownProcess } from "./entries.ts";
import { plainOf } from "./markdown.tsx";
import type { Question } from "./messages.ts";
import { adviceFor, isAtWork, nameOf } from "./words.ts";

/** Characters of a message that are announced; a screen reader reads the rest in its place. */
const maxSpoken = 400;

/**
 * Returns what to announce of the entries behind a seq, one text each: whole messages, that the conversation begins to
 * work, and how it ended if not with an answer. Questions to the person are announced by name; see `waitingWords`.
 */
export function spokenBetween(
  entries: readonly ShownEntry[],
  after: number,
  agent: string,
  channel: string,
): string[] {
  const words: string[] = [];
  let wasAtWork = false;
  /** A turn began, and nothing was announced since. */
  let isSilent = false;
  const say = (text: string): void => {
    words.push(text);
    isSilent = false;
  };
  for (const entry of entries) {
    const isNew = entry.seq > after;
    if (entry.kind === "process" && entry.value.id === channel) {
      const isWorking = isAtWork(entry.value);
      if (isNew) isSilent = isWorking && (isSilent || !wasAtWork);
      wasAtWork = isWorking;
    }
    if (!isNew) continue;
    if (entry.kind === "message" && entry.role === "assistant") {
      if (entry.partial === true || entry.process !== channel) continue;
      const text = entry.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
      if (text.trim() !== "") say(`${agent}: ${cut(plainOf(text, 4 * maxSpoken), maxSpoken)}`);
      if (entry.cut !== undefined) say(cutWords(entry.cut));
    } else if (entry.kind === "notice") say(cut(plainLine(entry.text.slice(0, 2 * maxSpoken)), maxSpoken));
    else if (entry.kind === "process") {
      const ending = endWords(entry.value, channel);
      if (ending !== undefined) say(ending);
    }
  }
  return isSilent ? [...words, `${agent} is working.`] : words;
}

function endWords(process: ShownProcess, channel: string): string | undefined {
  const { id, state, error } = process;
  const isMain = id === channel;
  if (state === "Cancelled") return isMain ? "Stopped." : undefined;
  if (state !== "Failed" || error === undefined) return undefined;
  const what = isMain ? "Failed" : `${line(nameOf(process), 80)} failed`;
  return `${what}: ${line(error.message, maxSpoken)} ${adviceFor(error)}`;
}

/** Changes that are announced by their names; of more, how many there are. */
const maxNamed = 3;

/** Returns what to announce of changes and questions that begin to wait for the person, one text each. */
export function waitingWords(cards: readonly Card[], questions: readonly Question[]): string[] {
  const changes =
    cards.length > maxNamed
      ? [`${cards.length} changes wait for you.`]
      : cards.map(
          ({ name, folder, title }) =>
            `A change waits for you: ${name}${folder === "" ? "" : ` in ${folder}`}. ${line(title, 200)}`,
        );
  return [...changes, ...questions.map(({ title }) => `A question waits for you: ${line(title, maxSpoken)}`)];
}
