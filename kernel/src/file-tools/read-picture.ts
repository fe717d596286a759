import { isLaresError } from "../base/errors.ts";
import { pictureBounds, pictureFault, pictureHead, type PictureType } from "../base/pictures.ts";
import type { Entry } from "../base/vocabulary/entry.ts";
import { fileToolBounds as bounds } from "./bounds.ts";
import type { FileAccess } from "./ports.ts";

/** The facts that `files/read` returns about a picture, which it does not show. */
export interface PictureFacts {
  readonly media_type: PictureType;
  readonly bytes: number;
  /** Pixels; absent if they cannot be read from its beginning. */
  readonly width?: number;
  readonly height?: number;
}

/** Returns the facts about a file that is a picture by its first bytes, and a sentence with them; null for another file. */
export async function describePicture(
  files: Pick<FileAccess, "read">,
  { path, size }: Pick<Entry, "path" | "size">,
): Promise<{ readonly picture: PictureFacts; readonly note: string } | null> {
  const { bytes } = await files.read(path, 0, bounds.pieceBytes);
  const head = pictureHead(bytes);
  if (head === null) return null;
  const { media_type: type, width, height } = head;
  const isSized = width > 0 && height > 0;
  const pixels = isSized ? `, ${width} × ${height} pixels` : "";
  const fault = isSized || size > pictureBounds.bytes ? pictureFault(head, size) : null;
  const limit = fault === null ? "" : ` It is too large for that: it ${fault}.`;
  return {
    picture: { media_type: type, bytes: size, ...(isSized ? { width, height } : {}) },
    note: `It is a picture: ${type}, ${size.toLocaleString("en")} bytes${pixels}. Only a message can show it.${limit}`,
  };
}

/** Reads a file that is a picture. Returns null if it may not be read, or cannot be sent to a model. */
export async function readPicture(
  files: Pick<FileAccess, "read">,
  path: string,
): Promise<{ readonly bytes: Uint8Array; readonly media_type: PictureType } | null> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for (let isEnd = false; !isEnd;) {
      const { bytes, eof } = await files.read(path, size, bounds.pieceBytes);
      pieces.push(bytes);
      size += bytes.length;
      if (size > pictureBounds.bytes) return null;
      // Nothing but a picture is read to its end.
      if (pieces.length === 1 && pictureHead(bytes) === null) return null;
      isEnd = eof || bytes.length === 0;
    }
  } catch (error) {
    if (isLaresError(error)) return null;
    throw error;
  }
  const bytes = joined(pieces, size);
  const head = pictureHead(bytes);
  if (head === null || pictureFault(head, size) !== null) return null;
  return { bytes, media_type: head.media_type };
}

function joined(pieces: readonly Uint8Array[], size: number): Uint8Array {
  const all = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
