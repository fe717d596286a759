import { maxContentBytes } from "../../../kernel/src/base/vocabulary/bounds.ts";
import type { Kernel } from "../kernel/kernel.ts";

export type Side = "before" | "after";

/** The maximum size of a content that is shown; a larger one is replaced by a notice. */
export const maxShownBytes = 10 * 1024 * 1024;
/** Decodes a text exactly as it is in the file. Throws if it is too large (null) or not a text. */
export function decoded(bytes: Uint8Array | null): string {
  if (bytes === null) throw new Error("This text is too large to be changed here.");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) throw new Error("This is not a text in UTF-8.", { cause: error });
    throw error;
  }
}

/** Returns one side of an effect in full; null if it is larger than `maxShownBytes`. Rejects if the kernel refuses. */
export async function contentOf(
  kernel: Pick<Kernel, "request">,
  action: string,
  effect: number,
  side: Side,
): Promise<Uint8Array | null> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const { base64, eof } = await kernel.request("lares/actions/content", {
      id: action,
      effect,
      side,
      offset: size,
      length: maxContentBytes,
    });
    const piece = Buffer.from(base64, "base64");
    pieces.push(piece);
    size += piece.length;
    if (size > maxShownBytes || (!eof && piece.length === 0)) return null;
    if (eof) return Buffer.concat(pieces, size);
  }
}
