import type { StillSaid } from "../../base/vocabulary/still-said.ts";
import { oneLine } from "./foreign.ts";
import { counted } from "./quantities.ts";

/** Returns sentences about where a text still stands that a mind no longer remembers. `ways`: how to remove it there. */
export function remains(
  { bulletin, blocks = [], conversations = [] }: StillSaid,
  ways: { readonly blocks: string; readonly redact: string },
): string[] {
  const [first] = conversations;
  const where =
    conversations.length === 1
      ? `the conversation "${oneLine(first?.title ?? "")}"`
      : counted(conversations.length, "conversation");
  return [
    ...(bulletin === true ? ["The mind's bulletin was emptied, too."] : []),
    ...(blocks.length === 0
      ? []
      : [
          blocks.length === 1
            ? `The block ${blocks.map(oneLine).join("")} still says it: ${ways.blocks}.`
            : `The blocks ${blocks.map(oneLine).join(", ")} still say it: ${ways.blocks}.`,
        ]),
    ...(first === undefined ? [] : [`It still stands in ${where}: ${ways.redact}.`]),
  ];
}
