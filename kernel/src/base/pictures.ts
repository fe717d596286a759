/** The media types of pictures that a message may hold. Pictures are never decoded here. */
export const pictureTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const;
export type PictureType = (typeof pictureTypes)[number];

const KiB = 1024;
const MiB = 1024 * KiB;

export const pictureBounds = {
  /** One picture, bytes. In base64 it has 5 MiB, the most that every provider takes. */
  bytes: 3840 * KiB,
  /** All pictures of a message, bytes. In base64 they have 8 MiB; a client's message has at most 10 MiB. */
  messageBytes: 6 * MiB,
  perMessage: 8,
  /** Pixels of a side. */
  side: 8_000,
  /** All pictures of one request to a model, bytes: with its texts it must fit what every provider takes, 20 MB. */
  requestBytes: 12 * MiB,
  /** With more pictures, a provider takes only smaller ones. */
  perRequest: 20,
} as const;

/** The type and size of a picture, from its first bytes. */
export interface PictureHead {
  readonly media_type: PictureType;
  /** Pixels; 0 if the bytes do not tell. */
  readonly width: number;
  readonly height: number;
}

/** Reads a picture's type and size from its first bytes; null for any other content. Pass the whole content, or its beginning. */
export function pictureHead(bytes: Uint8Array): PictureHead | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isAt = (at: number, text: string): boolean =>
    bytes.length >= at + text.length &&
    Array.from(text).every((character, index) => bytes[at + index] === character.charCodeAt(0));
  if (isAt(0, "\x89PNG\r\n\x1a\n")) {
    const isWhole = bytes.length >= 24 && isAt(12, "IHDR");
    return headOf("image/png", isWhole ? [view.getUint32(16), view.getUint32(20)] : null);
  }
  if (isAt(0, "GIF87a") || isAt(0, "GIF89a"))
    return headOf(
      "image/gif",
      bytes.length >= 10 ? [view.getUint16(6, true), view.getUint16(8, true)] : null,
    );
  if (isAt(0, "\xff\xd8\xff")) return headOf("image/jpeg", jpegSize(view));
  if (isAt(0, "RIFF") && isAt(8, "WEBP")) return headOf("image/webp", webpSize(view, isAt));
  return null;
}

type Size = readonly [width: number, height: number] | null;

function headOf(type: PictureType, size: Size): PictureHead {
  return { media_type: type, width: size?.[0] ?? 0, height: size?.[1] ?? 0 };
}

/** Finds the frame's header; the segments before it may be as long as the picture. */
function jpegSize(view: DataView): Size {
  for (let at = 2; at + 4 <= view.byteLength;) {
    if (view.getUint8(at) !== 0xff) return null;
    const marker = view.getUint8(at + 1);
    // Any number of fill bytes may precede a marker.
    if (marker === 0xff) {
      at++;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return at + 9 <= view.byteLength ? [view.getUint16(at + 7), view.getUint16(at + 5)] : null;
    // The pixels begin, or the picture ends, and no frame's header came.
    if (marker === 0xda || marker === 0xd9) return null;
    at += 2 + view.getUint16(at + 2);
  }
  return null;
}

function webpSize(view: DataView, isAt: (at: number, text: string) => boolean): Size {
  if (view.byteLength < 30) return null;
  if (isAt(12, "VP8X")) return [1 + uint24(view, 24), 1 + uint24(view, 27)];
  if (isAt(12, "VP8L")) {
    const bits = view.getUint32(21, true);
    return [1 + (bits & 0x3fff), 1 + ((bits >>> 14) & 0x3fff)];
  }
  return isAt(12, "VP8 ") ? [view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff] : null;
}

const uint24 = (view: DataView, at: number): number =>
  view.getUint16(at, true) | (view.getUint8(at + 2) << 16);

/** Returns why a picture cannot be sent to models, as the end of a sentence that names it; null if it can. */
export function pictureFault(head: PictureHead, bytes: number): string | null {
  const { width, height } = head;
  if (bytes > pictureBounds.bytes)
    return `has ${bytes} bytes; a picture may have at most ${pictureBounds.bytes}`;
  if (width === 0 || height === 0) return "has no header that says how large it is";
  if (Math.max(width, height) > pictureBounds.side)
    return `has ${width} × ${height} pixels; a side may have at most ${pictureBounds.side}`;
  return null;
}

/** Returns the number of bytes that a canonical base64 text stands for. */
export function bytesOfBase64(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return (base64.length / 4) * 3 - padding;
}

/** Returns the words that stand for a picture in a text. `why` says why the picture itself is not there. */
export function pictureText(type: string, bytes: number, why = ""): string {
  // Any other text in this place of a log is not repeated.
  const named = pictureTypes.some((known) => known === type) ? type : "of an unknown type";
  return `[picture, ${named}, ${bytes} bytes${why === "" ? "" : `: ${why}`}]`;
}
