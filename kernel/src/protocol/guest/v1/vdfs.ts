import { maxReadBytes, maxThumbnailPx } from "../../../base/vocabulary/bounds.ts";
import { Type } from "typebox";
import { closed, HashOf, Path, PathOf } from "../../../base/vocabulary/common.ts";
import { Entry, EntryPage, EntryQuery } from "../../../base/vocabulary/entry.ts";
import { define } from "../../define.ts";
import { Blob } from "./blobs.ts";

const noReading = "The agent has no `read_entries`.";
const noReadingOf = `${noReading.slice(0, -1)}, or the path does not pass its filter.`;
const outside = "The path leaves the workspace, lies in no granted location, or leads through a link.";
const tooSlow =
  "The query takes too much of the kernel's time. Use a simpler pattern, or ask folder by folder.";

export const vdfsCalls = define({
  "vdfs/query": {
    about:
      "Returns entries that match every given field, ordered by path. What the agent may not see does not exist for it: here, in counts, copies, hashes and errors alike.",
    errors: { PermissionDenied: noReading, LimitExceeded: tooSlow },
    params: EntryQuery,
    result: EntryPage,
  },
  "vdfs/count": {
    about:
      "Returns how many entries match, with the fields of `vdfs/query`. `limit` and `cursor` do not matter: any page's query counts all pages.",
    errors: { PermissionDenied: noReading, LimitExceeded: tooSlow },
    params: EntryQuery,
    result: Type.Object({ count: Type.Integer({ description: "How many entries match" }) }),
  },
  "vdfs/get": {
    about: "Returns one entry by its path or id, or null where the agent sees none.",
    errors: { PermissionDenied: noReadingOf, ScopeViolation: outside },
    params: Type.Union([
      Type.Object({ path: PathOf("The entry's path") }, closed),
      Type.Object(
        { id: Type.String({ minLength: 1, maxLength: 128, description: "The entry's id" }) },
        closed,
      ),
    ]),
    result: Type.Union([Entry, Type.Null()]),
  },
  "vdfs/read": {
    about: "Returns a piece of a file. Read on until `eof`.",
    errors: {
      PermissionDenied: noReadingOf,
      ScopeViolation: outside,
      NotFound: "The agent sees no file at this path.",
    },
    params: Type.Object(
      {
        path: PathOf("The file"),
        offset: Type.Optional(
          Type.Integer({ minimum: 0, default: 0, description: "Where the piece begins, bytes" }),
        ),
        length: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: maxReadBytes,
            default: maxReadBytes,
            description: "How long the piece is at most, bytes",
          }),
        ),
      },
      closed,
    ),
    result: Type.Object({
      base64: Type.String({ description: "The piece, as standard Base64" }),
      eof: Type.Boolean({ description: "The piece reaches the end of the file" }),
    }),
  },
  "vdfs/thumbnail": {
    about:
      "Returns a file's picture, decoded, upright, and made small: JPEG, PNG, WebP, or the first frame of a GIF, by its content. The file may be read with `vdfs/read`, and has at most 64 MiB and 100,000,000 pixels. Pictures of an agent are decoded one after the other.",
    errors: {
      PermissionDenied: noReadingOf,
      ScopeViolation: outside,
      NotFound: "The agent sees no file at this path.",
      InvalidParams: "The file is not a picture of these types, or it is damaged. `data.path` is `path`.",
      LimitExceeded:
        "The picture is too large or takes too long to decode, the process that decodes it ended, 64 thumbnails of the agent wait already, or it does not fit the blobs that an agent may keep. `data.limit` says which.",
    },
    params: Type.Object(
      {
        path: PathOf("The picture"),
        max_px: Type.Integer({
          minimum: 1,
          maximum: maxThumbnailPx,
          description: "The longer side, pixels. A smaller picture keeps its size",
        }),
        format: Type.Union(
          [
            Type.Literal("rgba8", {
              description: "4 bytes a pixel in sRGB, row by row: red, green, blue, opacity",
            }),
            Type.Literal("jpeg", { description: "A JPEG file without metadata; transparency becomes white" }),
          ],
          { description: "What the bytes are" },
        ),
      },
      closed,
    ),
    result: Type.Object({
      width: Type.Integer({ description: "Pixels of a row" }),
      height: Type.Integer({ description: "Rows" }),
      base64: Type.Optional(
        Type.String({ description: "The bytes, as standard Base64, padded; either this or `blob`" }),
      ),
      blob: Type.Optional(Blob("The bytes, where they do not fit a message")),
    }),
  },
  "vdfs/sidecar/read": {
    about: "Returns a sidecar of an entry, or null if there is none of this kind.",
    errors: { PermissionDenied: noReadingOf, ScopeViolation: outside },
    params: Type.Object(
      {
        path: PathOf("The entry"),
        sidecar: Type.String({ minLength: 1, maxLength: 128, description: "The kind of sidecar" }),
      },
      closed,
    ),
    result: Type.Union([
      Type.Object({ data: Type.Unknown({ description: "The sidecar's content" }) }),
      Type.Null(),
    ]),
  },
  "vdfs/copies": {
    about: "Returns the files with this content, of those that the agent sees.",
    errors: { PermissionDenied: noReading },
    params: Type.Object({ content_id: HashOf("The content") }, closed),
    result: Type.Object({
      count: Type.Integer({ description: "How many files have this content" }),
      paths: Type.Array(Path, { description: "Where they are" }),
    }),
  },
});
