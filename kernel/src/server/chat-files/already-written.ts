import type { ChatFiles } from "../../services/chat-files/chat-files.ts";
import { agentHeading } from "../../services/chat-files/answer-markdown.ts";
import { endOfWritten, type Places } from "../../services/chat-files/places.ts";
import { lastTurn } from "../../services/chat-files/turns.ts";
import type { ShownChat } from "./shown-chat.ts";

/**
 * Returns the places behind an answer that counts as missing and stands in the file all the same: a kernel died after the editor
 * had inserted it, and before that was stored. It is recognised at its place by its heading and its first line, because the person
 * may have edited the rest since. Null if it is not there.
 */
export async function alreadyWritten(
  { chat, missing, standing: { agent } }: ShownChat,
  files: Pick<ChatFiles, "markdownOf">,
): Promise<{ readonly places: Places; readonly through: number } | null> {
  // An insertion that this kernel asked for is noticed when the editor shows it.
  if (missing === null || agent === null || chat.insertion !== null) return null;
  const { text, places } = chat;
  const at = places.answer + (/^\s*/.exec(text.slice(places.answer))?.[0].length ?? 0);
  const markdown = await files.markdownOf(missing, agent);
  const [heading, line] = firstLines(text.slice(at));
  const isAlike = heading === agentHeading(agent).trim() && line === firstLines(markdown)[1];
  // It changed meanwhile, and is looked at again.
  if (text !== chat.text || !isAlike) return null;
  const whole = text.slice(at).replaceAll("\r\n", "\n").startsWith(markdown.trimEnd());
  const end = whole ? endOfWritten(text, markdown, at) : (lastTurn(text, at)?.start ?? text.trimEnd().length);
  if (end === null) return null;
  return { places: { answer: end, floor: Math.max(end, places.floor) }, through: missing.through };
}

/** Returns the first two lines of a text that are not empty. */
function firstLines(text: string): readonly (string | undefined)[] {
  return text
    .slice(0, 4_000)
    .split(/\r\n|\r|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .slice(0, 2);
}
