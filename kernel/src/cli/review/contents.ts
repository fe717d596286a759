import { createTwoFilesPatch } from "diff";
import { LaresError } from "../../base/errors.ts";
import type { Action } from "../../base/vocabulary/action.ts";
import type { KernelClient } from "../kernel-client.ts";
import { withHunks } from "./state/parts.ts";
import type { EditedText } from "./state/state.ts";

/** The maximum size of a text that is edited or taken in parts here. Bytes. */
const maxTextBytes = 4 * 1024 * 1024;
/** Beyond this number of edits, a diff shows the whole text. */
const maxEdits = 2000;

type Contents = Pick<KernelClient, "content">;

/** Returns one side of an effect's content in full. */
export async function contentOf(
  kernel: Contents,
  id: string,
  effect: number,
  side: "before" | "after",
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for (let eof = false; !eof;) {
    const piece = await kernel.content(id, effect, side, length);
    const bytes = Buffer.from(piece.base64, "base64");
    pieces.push(bytes);
    length += bytes.length;
    if (length > maxTextBytes)
      throw new LaresError(
        "LimitExceeded",
        "It is longer than 4 MiB, so it cannot be edited or divided here.",
      );
    eof = piece.eof || bytes.length === 0;
  }
  return Buffer.concat(pieces);
}

/** Decodes UTF-8, keeping a byte order mark. */
export function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new LaresError("InvalidParams", "It is not UTF-8 text, so it cannot be edited or divided here.");
  }
}

/** Returns the text that an effect writes if only these hunks are taken. */
export async function partialContent(
  kernel: Contents,
  { id, effects }: Action,
  effect: number,
  kept: ReadonlySet<number>,
): Promise<string> {
  const [before, after] = await Promise.all([
    contentOf(kernel, id, effect, "before").then(textOf),
    contentOf(kernel, id, effect, "after").then(textOf),
  ]);
  const text = withHunks(before, after, effects[effect]?.diff ?? "", kept);
  if (text === null)
    throw new LaresError(
      "InvalidParams",
      "Its parts cannot be taken one by one. Approve or reject it as a whole.",
    );
  return text;
}

/** Returns a person's text with its diff from the current file; null if it equals the proposed text. */
export function editedText(before: string, proposed: string, text: string): EditedText | null {
  if (text === proposed) return null;
  const diff =
    createTwoFilesPatch("a", "b", before, text, undefined, undefined, { maxEditLength: maxEdits }) ??
    wholeDiff(before, text);
  return { text, diff };
}

function wholeDiff(before: string, after: string): string {
  const lines = (text: string, sign: string): string[] =>
    text
      .replace(/\n$/, "")
      .split("\n")
      .map((line) => sign + line);
  const [gone, come] = [lines(before, "-"), lines(after, "+")];
  return [`@@ -1,${gone.length} +1,${come.length} @@`, ...gone, ...come].join("\n");
}
