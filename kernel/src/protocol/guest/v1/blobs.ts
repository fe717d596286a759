import { maxReadBytes } from "../../../base/vocabulary/bounds.ts";
import { Type } from "typebox";
import { closed } from "../../../base/vocabulary/common.ts";
import { Base64, Eof } from "../../../base/vocabulary/request-fields.ts";
import { define } from "../../define.ts";

/** The id of bytes that the kernel keeps for an agent. */
export const Blob = (description: string) => Type.String({ minLength: 1, maxLength: 64, description });

/** Bytes that do not fit a line. */
export const blobCalls = define({
  "blobs/write": {
    about:
      "Keeps bytes for the agent until none of its handlers is open: begins a blob, or appends to one. An agent has at most 64 MiB in 1,000 blobs.",
    errors: {
      NotFound: "There is no such blob.",
      LimitExceeded: "It would be more than an agent may keep; nothing was written.",
      InvalidParams: "It is not Base64.",
    },
    params: Type.Object(
      {
        blob: Type.Optional(Blob("The blob to append to; default a new one")),
        base64: Type.String({ maxLength: 700_000, description: "The bytes, as standard Base64, padded" }),
      },
      closed,
    ),
    result: Type.Object({ blob: Type.String({ description: "The blob's id" }) }),
  },
  "blobs/read": {
    about: "Returns a part of a blob.",
    errors: { NotFound: "There is no such blob.", InvalidParams: "`offset` is after its end." },
    params: Type.Object(
      {
        blob: Blob("The blob"),
        offset: Type.Optional(Type.Integer({ minimum: 0, default: 0, description: "The first byte" })),
        length: Type.Integer({ minimum: 1, maximum: maxReadBytes, description: "Bytes at most" }),
      },
      closed,
    ),
    result: Type.Object({ base64: Base64, eof: Eof }),
  },
});
