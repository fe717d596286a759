import { pictureBounds, pictureText } from "../base/pictures.ts";
import type { Entry, Part } from "../base/vocabulary/conversation.ts";
import type { ModelImage, ModelMessage, ModelText } from "../base/vocabulary/model.ts";

type PicturePart = Extract<Part, { type: "image" }>;

/** Returns a picture of an entry as a context holds it: its bytes are read when the request is sent. */
export function storedPicture({ media_type: type, object, bytes }: PicturePart): ModelImage {
  return { type: "image", media_type: type, base64: "", stored: { object, bytes } };
}

const leftOut = "left out here, because newer pictures fill the request";

/**
 * Returns the messages with as many of the newest pictures as one request may hold. If they are too many, the oldest ones
 * leave until half of that is free, so that later requests begin with the same bytes for some time.
 */
export function withinRequest(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  const kept: ModelImage[] = [];
  const left = new Set<ModelImage>();
  let bytes = 0;
  const isOver = (share: number): boolean =>
    kept.length > pictureBounds.perRequest * share || bytes > pictureBounds.requestBytes * share;
  for (const picture of messages.flatMap(picturesIn)) {
    kept.push(picture);
    bytes += picture.stored?.bytes ?? 0;
    // The newest one alone may be more than half.
    if (isOver(1))
      while (kept.length > 1 && isOver(0.5)) {
        const oldest = kept.shift();
        if (oldest === undefined) break;
        left.add(oldest);
        bytes -= oldest.stored?.bytes ?? 0;
      }
  }
  return left.size === 0
    ? messages
    : messages.map((message) => replaced(message, (picture) => (left.has(picture) ? leftOut : picture)));
}

const gone = "not available any more";

interface PictureHolder {
  readonly messages: readonly ModelMessage[];
  /** False if none of the messages can have a picture, so that they need not be looked through. */
  readonly hasPictures: boolean;
}

/** Returns the messages with the bytes of their pictures, which `read` returns in base64; null for one that is gone. */
export async function withPictures(
  { messages, hasPictures }: PictureHolder,
  read: (picture: NonNullable<ModelImage["stored"]>) => Promise<string | null>,
): Promise<readonly ModelMessage[]> {
  if (!hasPictures) return messages;
  const found = new Map<string, string | null>();
  for (const { stored } of messages.flatMap(picturesIn))
    if (stored !== undefined && !found.has(stored.object)) found.set(stored.object, await read(stored));
  if (found.size === 0) return messages;
  return messages.map((message) =>
    replaced(message, (picture) => {
      const base64 = picture.stored === undefined ? picture.base64 : found.get(picture.stored.object);
      return typeof base64 === "string" ? { type: "image", media_type: picture.media_type, base64 } : gone;
    }),
  );
}

function hasPicture(message: ModelMessage): boolean {
  return message.role === "user" && message.parts.some(({ type }) => type === "image");
}

function picturesIn(message: ModelMessage): ModelImage[] {
  return message.role === "user" ? message.parts.filter((part) => part.type === "image") : [];
}

/** Returns the message with other pictures; a sentence stands for one that is not there. */
function replaced(message: ModelMessage, by: (picture: ModelImage) => ModelImage | string): ModelMessage {
  if (message.role !== "user" || !hasPicture(message)) return message;
  return {
    ...message,
    parts: message.parts.map((part): ModelText | ModelImage => {
      if (part.type !== "image") return part;
      const instead = by(part);
      return typeof instead === "string"
        ? { type: "text", text: pictureText(part.media_type, part.stored?.bytes ?? 0, instead) }
        : instead;
    }),
  };
}

/** Returns how many pictures an entry adds to the context. */
export function pictureCount(entry: Entry): number {
  return entry.kind === "message" ? entry.parts.filter(({ type }) => type === "image").length : 0;
}
