import { invalidParams, limitExceeded } from "./errors.ts";
import { pictureBounds, pictureFault, pictureHead, type PictureType, pictureTypes } from "./pictures.ts";

/**
 * Checks a picture that a person sends, and returns its type. `path` names it in errors. InvalidParams if it is of an
 * unknown type, or of another type than the message says; LimitExceeded if it is too large.
 */
export function checkPicture(bytes: Uint8Array, type: string, path: string): PictureType {
  const head = pictureHead(bytes);
  if (head === null)
    throw invalidParams(`${path} is not a picture: only ${pictureTypes.join(", ")} can be sent.`, { path });
  if (head.media_type !== type)
    throw invalidParams(`${path} is ${head.media_type}, and not of the type that media_type says.`, { path });
  const fault = pictureFault(head, bytes.length);
  if (fault === null) return head.media_type;
  const message = `${path} ${fault}. Send a smaller one.`;
  if (head.width === 0 || head.height === 0) throw invalidParams(message, { path });
  throw limitExceeded(
    bytes.length > pictureBounds.bytes ? "picture_bytes" : "picture_pixels",
    bytes.length > pictureBounds.bytes ? bytes.length : Math.max(head.width, head.height),
    message,
  );
}
