import { Type } from "typebox";
import { closed, Hash, Path } from "../../../base/vocabulary/common.ts";
import { Entry, EntryPage, EntryQuery } from "../../../base/vocabulary/entry.ts";
import { define } from "../../define.ts";

/** Largest piece of a file in one answer, in bytes. */
export const maxReadBytes = 262_144;

export const vdfsCalls = define({
  "vdfs/query": { params: EntryQuery, result: EntryPage },
  "vdfs/count": { params: EntryQuery, result: Type.Object({ count: Type.Integer() }) },
  "vdfs/get": {
    params: Type.Union([
      Type.Object({ path: Path }, closed),
      Type.Object({ id: Type.String({ minLength: 1, maxLength: 128 }) }, closed),
    ]),
    result: Type.Union([Entry, Type.Null()]),
  },
  "vdfs/read": {
    params: Type.Object(
      {
        path: Path,
        offset: Type.Optional(Type.Integer({ minimum: 0, default: 0, description: "Bytes" })),
        length: Type.Optional(
          Type.Integer({ minimum: 0, maximum: maxReadBytes, default: maxReadBytes, description: "Bytes" }),
        ),
      },
      closed,
    ),
    result: Type.Object({ base64: Type.String(), eof: Type.Boolean() }),
  },
  "vdfs/sidecar/read": {
    params: Type.Object({ path: Path, sidecar: Type.String({ minLength: 1, maxLength: 128 }) }, closed),
    result: Type.Union([Type.Object({ data: Type.Unknown() }), Type.Null()]),
  },
  "vdfs/copies": {
    params: Type.Object({ content_id: Hash }, closed),
    result: Type.Object({ count: Type.Integer(), paths: Type.Array(Path) }),
  },
});
