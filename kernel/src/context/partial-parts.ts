import type { Part } from "../base/vocabulary/conversation.ts";

/** Returns the parts of a message with more of it: a text continues the last part of its type. */
export function continued(parts: readonly Part[], more: readonly Part[]): Part[] {
  const all = [...parts];
  for (const part of more) {
    const last = all.at(-1);
    if (part.type === "text" && last?.type === "text")
      all[all.length - 1] = { ...last, text: last.text + part.text };
    else if (part.type === "reasoning" && last?.type === "reasoning" && last.opaque === undefined)
      all[all.length - 1] = { ...part, text: last.text + part.text };
    else all.push(part);
  }
  return all;
}
