import {
  bytesOfBase64,
  pictureBounds,
  pictureFault,
  pictureHead,
} from "../../../../kernel/src/base/pictures.ts";
import { maxAttached, type Attached } from "./messages.ts";

export type Picture = Extract<Attached, { kind: "picture" }>;

/** A larger picture is named and not drawn: the page would hold all of its pixels. */
const drawnSide = 4_096;
/** Bytes that are encoded at once: each is an argument of one call. */
const encodedAtOnce = 32_768;

/** Returns a picture as it is sent, or the reason why it cannot be. Its first bytes tell its type. */
export function pictureOf(name: string, bytes: Uint8Array): Picture | string {
  const head = pictureHead(bytes);
  if (head === null) return "This is not a picture that can be sent: PNG, JPEG, GIF or WebP.";
  const fault = pictureFault(head, bytes.length);
  if (fault !== null) return `The picture ${fault}.`;
  return { kind: "picture", name: name.slice(0, 200), mediaType: head.media_type, base64: base64Of(bytes) };
}

/** Returns what is attached with these pictures, and why one of them is not. */
export function withPictures(
  attached: readonly Attached[],
  pictures: readonly (Picture | string)[],
): { readonly attached: readonly Attached[]; readonly refusal?: string } {
  let refusal: string | undefined;
  const all = [...attached];
  for (const picture of pictures) {
    if (typeof picture === "string") refusal = picture;
    else {
      const others = all.filter((one) => one.kind === "picture");
      const bytes = [...others, picture].reduce((sum, { base64 }) => sum + bytesOfBase64(base64), 0);
      if (others.length >= pictureBounds.perMessage)
        refusal = `A message holds at most ${pictureBounds.perMessage} pictures.`;
      else if (bytes > pictureBounds.messageBytes)
        refusal = "The pictures of one message have at most 6 MB together.";
      else if (all.length >= maxAttached) refusal = `At most ${maxAttached} things are sent with a message.`;
      else all.push(picture);
    }
  }
  return { attached: all, ...(refusal === undefined ? {} : { refusal }) };
}

/** Returns the address of a picture's own bytes; null for one that is too large to be drawn. */
export function addressOf({ mediaType, base64 }: Picture): string | null {
  const head = pictureHead(bytesOf(base64));
  const isSmall = head !== null && head.media_type === mediaType && pictureFault(head, 0) === null;
  return isSmall && Math.max(head.width, head.height) <= drawnSide
    ? `data:${mediaType};base64,${base64}`
    : null;
}

/** Returns the files among what is pasted or dropped that say they are pictures. */
export function picturesIn(data: Pick<DataTransfer, "files"> | null): File[] {
  return [...(data?.files ?? [])].filter(({ type }) => type.startsWith("image/"));
}

/** Reads files; one that has too many bytes is not read. */
export function readPictures(files: readonly File[]): Promise<(Picture | string)[]> {
  return Promise.all(
    files.slice(0, maxAttached).map(async (file) => {
      if (file.size > pictureBounds.bytes) return "A picture has at most 3.75 MB.";
      return pictureOf(file.name, new Uint8Array(await file.arrayBuffer()));
    }),
  );
}

function base64Of(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += encodedAtOnce)
    text += String.fromCharCode(...bytes.subarray(at, at + encodedAtOnce));
  return btoa(text);
}

function bytesOf(base64: string): Uint8Array {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    // It is drawn as a name.
    return new Uint8Array();
  }
}
