/**
 * Entry of the process that decodes pictures, which may be hostile. It has no network and no native code, writes nothing,
 * and reads the kernel's code and its packages.
 */
import { type Parent, serveParent } from "../platform/children/parent.ts";
import { thumbnailBounds as bounds } from "./bounds.ts";
import { makeThumbnail } from "./decode.ts";
import type { ThumbnailReply, ThumbnailRequest } from "./messages.ts";

// The kernel sends one request at a time.
const parent: Parent<ThumbnailReply> = serveParent<ThumbnailReply, ThumbnailRequest>({
  maxFrameBytes: bounds.maxFrameBytes,
  async receive(request, content) {
    const { reply, bytes } = await makeThumbnail(content.slice(), request);
    parent.send(reply, bytes);
  },
});
parent.ready();
