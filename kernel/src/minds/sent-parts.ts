import { checkPicture } from "../base/check-picture.ts";
import { invalidParams, limitExceeded } from "../base/errors.ts";
import { bytesOfBase64, pictureBounds, type PictureType } from "../base/pictures.ts";
import type { Part } from "../base/vocabulary/conversation.ts";
import { maxMessageCharacters } from "../base/vocabulary/bounds.ts";
import type { SentPart } from "../base/vocabulary/conversation-requests.ts";
import type { ConversationLog } from "../conversations/conversation-log.ts";

/** A picture that is not stored yet. */
interface NewPicture {
  readonly type: "image";
  readonly media_type: PictureType;
  readonly content: Uint8Array;
}

/** A part of a message before it is written. */
export type NewPart = Exclude<Part, { type: "image" | "reasoning" }> | NewPicture;

/**
 * Returns the parts of a message that a person sends. InvalidParams if it is empty or holds what is not a picture;
 * LimitExceeded if it is too long, or has too many or too large pictures.
 */
export function sentParts(
  text: string | undefined,
  parts: readonly SentPart[] | undefined,
): readonly NewPart[] {
  if ((text === undefined) === (parts === undefined))
    throw invalidParams("Give either a text or parts.", { path: "text" });
  const sent = parts ?? [{ type: "text" as const, text: text ?? "" }];
  const characters = sent.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 0), 0);
  if (characters > maxMessageCharacters)
    throw limitExceeded(
      "message_characters",
      characters,
      `The message has ${characters} characters; at most ${maxMessageCharacters} can be sent. Put it into a file, and name the file.`,
    );
  if (!sent.some((part) => part.type !== "text" || part.text.trim() !== ""))
    throw invalidParams("The message is empty.", { path: "text" });
  checkPictures(sent);
  return sent.map((part, index): NewPart => {
    if (part.type === "text") return { ...part, text: part.text.toWellFormed() };
    return part.type === "file" ? part : picture(part, `parts[${index}]`);
  });
}

/** Looks at numbers and lengths alone, before anything is decoded. */
function checkPictures(sent: readonly SentPart[]): void {
  const pictures = sent.filter((part) => part.type === "image");
  const { perMessage, messageBytes } = pictureBounds;
  if (pictures.length > perMessage)
    throw limitExceeded(
      "pictures",
      pictures.length,
      `The message has ${pictures.length} pictures; at most ${perMessage} can be sent. Send the others with another message.`,
    );
  const bytes = pictures.reduce((sum, { base64 }) => sum + Math.floor(bytesOfBase64(base64)), 0);
  if (bytes > messageBytes)
    throw limitExceeded(
      "message_picture_bytes",
      bytes,
      `The pictures of the message have ${bytes} bytes together; at most ${messageBytes} can be sent. Send some with another message, or smaller ones.`,
    );
}

function picture(
  { media_type: type, base64 }: Extract<SentPart, { type: "image" }>,
  path: string,
): NewPicture {
  const content = Buffer.from(base64, "base64");
  // The decoder skips whatever is not base64.
  if (content.toString("base64") !== base64)
    throw invalidParams(`${path}.base64 is not base64 with padding and without line breaks.`, { path });
  return { type: "image", media_type: checkPicture(content, type, path), content };
}

/** The parts of a message whose pictures are stored. These stay stored until it is disposed, and while an entry names them. */
interface StoredParts extends Disposable {
  readonly parts: readonly Part[];
  readonly pictures: readonly StoredPicture[];
}
export type StoredPicture = Awaited<ReturnType<ConversationLog["keepPicture"]>>;

/** Stores the pictures of a message. LimitExceeded if the conversation has no room for them. */
export async function storePictures(
  parts: readonly NewPart[],
  log: Pick<ConversationLog, "keepPicture">,
): Promise<StoredParts> {
  const stored: StoredPicture[] = [];
  const dispose = (): void => {
    for (const picture of stored) picture[Symbol.dispose]();
  };
  try {
    const written: Part[] = [];
    for (const part of parts) {
      if (part.type !== "image") {
        written.push(part);
        continue;
      }
      const { media_type: type, content } = part;
      const kept = await log.keepPicture(content);
      stored.push(kept);
      written.push({ type: "image", media_type: type, object: kept.hash, bytes: kept.bytes });
    }
    return { parts: written, pictures: stored, [Symbol.dispose]: dispose };
  } catch (error) {
    dispose();
    throw error;
  }
}
