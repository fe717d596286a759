import sharp, { type Sharp } from "sharp";
import { messageOf } from "../base/errors.ts";
import type { PictureType } from "../base/pictures.ts";
import { thumbnailBounds as bounds } from "./bounds.ts";
import type { ThumbnailReply, ThumbnailRequest } from "./messages.ts";

const loaders: Readonly<Record<PictureType, string>> = {
  "image/jpeg": "VipsForeignLoadJpegBuffer",
  "image/png": "VipsForeignLoadPngBuffer",
  "image/webp": "VipsForeignLoadWebpBuffer",
  "image/gif": "VipsForeignLoadNsgifBuffer",
};

// Everything else stays refused: SVG, for one, may refer to other files.
sharp.block({ operation: ["VipsForeignLoad"] });
sharp.unblock({ operation: Object.values(loaders) });
sharp.cache(false);
sharp.concurrency(1);

const jpegQuality = 80;
const white = "#fff";
const maxReasonLength = 200;

/** Decodes a picture's first frame, upright, and makes it small. Never rejects for what the picture holds. */
export async function makeThumbnail(
  content: Uint8Array,
  { maxPx, format }: ThumbnailRequest,
): Promise<{ readonly reply: ThumbnailReply; readonly bytes?: Uint8Array }> {
  try {
    const picture = sharp(content, {
      failOn: "error",
      limitInputPixels: bounds.maxPixels,
      unlimited: false,
      pages: 1,
    })
      .timeout({ seconds: Math.ceil(bounds.maxWallMs / 1000) })
      .autoOrient()
      .resize({ width: maxPx, height: maxPx, fit: "inside", withoutEnlargement: true })
      .toColourspace("srgb");
    const { data, info } = await encoded(picture, format).toBuffer({ resolveWithObject: true });
    return { reply: { kind: "made", width: info.width, height: info.height }, bytes: data };
  } catch (error) {
    return { reply: refusalOf(messageOf(error)) };
  }
}

function encoded(picture: Sharp, format: ThumbnailRequest["format"]): Sharp {
  return format === "jpeg"
    ? picture.flatten({ background: white }).jpeg({ quality: jpegQuality })
    : picture.ensureAlpha().raw({ depth: "uchar" });
}

function refusalOf(message: string): ThumbnailReply {
  if (/exceeds pixel limit/.test(message))
    return { kind: "refused", why: "pixels", message: `has more than ${bounds.maxPixels} pixels` };
  const [line = ""] = message.split("\n");
  return {
    kind: "refused",
    why: "damaged",
    message: `cannot be decoded: ${line.slice(0, maxReasonLength).toWellFormed()}`,
  };
}
