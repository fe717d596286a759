import { fileToolBounds as bounds } from "./bounds.ts";
import type { FileAccess } from "./ports.ts";

/** A piece of a text file. */
interface TextPiece {
  /** Bytes that are not valid UTF-8 are U+FFFD. */
  readonly text: string;
  readonly bytes: number;
  /** The file ends with this piece. */
  readonly eof: boolean;
}

/**
 * Reads a file as UTF-8, piece by piece, up to `maxBytes`, and passes its bytes to `took`. Yields null, and ends, if its beginning holds a zero byte: it
 * is not text then. Ends with the signal's reason when the signal is aborted.
 */
export async function* textPieces(
  files: Pick<FileAccess, "read">,
  path: string,
  maxBytes: number,
  signal: AbortSignal,
  took: (bytes: Uint8Array) => void = () => undefined,
): AsyncGenerator<TextPiece | null, void, void> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  for (let offset = 0; offset < maxBytes;) {
    signal.throwIfAborted();
    const length = Math.min(bounds.pieceBytes, maxBytes - offset);
    const { bytes, eof } = await files.read(path, offset, length);
    took(bytes);
    if (offset === 0 && bytes.includes(0)) {
      yield null;
      return;
    }
    offset += bytes.length;
    const isLast = eof || bytes.length === 0;
    yield { text: decoder.decode(bytes, { stream: !isLast }), bytes: bytes.length, eof: isLast };
    if (isLast) return;
  }
}
