import type { Kernel } from "../kernel/kernel.ts";
import type { Side } from "./addresses.ts";

/** Largest content that is shown; beyond it stands a notice. */
export const maxShownBytes = 10 * 1024 * 1024;
/** What the kernel gives in one answer at most. */
const pieceBytes = 1024 * 1024;

/** One side of an effect, whole; null where it is larger than `maxShownBytes`. Rejects with the kernel's refusal. */
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
      length: pieceBytes,
    });
    const piece = Buffer.from(base64, "base64");
    pieces.push(piece);
    size += piece.length;
    if (size > maxShownBytes || (!eof && piece.length === 0)) return null;
    if (eof) return Buffer.concat(pieces, size);
  }
}
