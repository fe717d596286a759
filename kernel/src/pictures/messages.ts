import type { PictureType } from "../base/pictures.ts";

/** `rgba8`: 4 bytes a pixel, row by row. */
export type ThumbnailFormat = "rgba8" | "jpeg";

/** To the process, with the picture's bytes behind it. */
export interface ThumbnailRequest {
  readonly type: PictureType;
  /** The longer side of the thumbnail, pixels. A smaller picture keeps its size. */
  readonly maxPx: number;
  readonly format: ThumbnailFormat;
}

/** `made` has the thumbnail's bytes behind it. */
export type ThumbnailReply =
  | { readonly kind: "made"; readonly width: number; readonly height: number }
  /** `message` is the end of a sentence that names the file. */
  | { readonly kind: "refused"; readonly why: "damaged" | "pixels"; readonly message: string };

/** What the process is sent and what it answers, each with its bytes. */
export interface WithBytes<Words> {
  readonly words: Words;
  readonly bytes: Uint8Array;
}
