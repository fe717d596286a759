import { quotedText } from "../base/visible-text.ts";
import type { Question } from "../base/vocabulary/ask.ts";
import { sha256 } from "../platform/files/hash.ts";
import type { MindPorts } from "./ports.ts";

/** Returns the question whether a mind may keep a text that was made from text nobody vouches for. Nothing is remembered. */
export function blockQuestion(
  place: Parameters<MindPorts["asks"]["block"]>[0],
  { block, before, text, sources, namespace }: Parameters<MindPorts["asks"]["block"]>[1],
): Question {
  const now = before === "" ? "The block is empty now." : `The block reads now: ${quotedText(before)}.`;
  return {
    ...place,
    kind: "block",
    title:
      namespace === undefined
        ? `May ${place.agent} keep a text in its block ${quotedText(block)} for all of its conversations?`
        : `May ${place.agent} keep a text in the block ${quotedText(block)} of the shared memory ${quotedText(namespace)}, which other minds read?`,
    reason: `The text was made from text that nobody vouches for, so it holds only in its conversation until you accept it. ${now} It would read: ${quotedText(text)}.`,
    sources: [...sources],
    facts: { block, before, text, ...(namespace === undefined ? {} : { namespace }) },
    scopes: ["once"],
    about: `${namespace === undefined ? "" : `${namespace} `}${block} ${sha256(text)}`,
    countsFor: "agent",
  };
}
