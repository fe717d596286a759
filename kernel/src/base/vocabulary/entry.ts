import { Type, type Static } from "typebox";
import { closed, Hash, Path, Timestamp } from "./common.ts";

export const Media = Type.Union([
  Type.Literal("image"),
  Type.Literal("video"),
  Type.Literal("audio"),
  Type.Literal("document"),
  Type.Literal("text"),
  Type.Literal("other"),
]);
export type Media = Static<typeof Media>;

export const EntryKind = Type.Union([Type.Literal("file"), Type.Literal("folder")]);
export type EntryKind = Static<typeof EntryKind>;

/** A file or folder of the workspace as the index knows it. */
export const Entry = Type.Object(
  {
    id: Type.String({ description: "Stays the same when the entry is moved" }),
    path: Path,
    name: Type.String(),
    kind: EntryKind,
    media: Media,
    extension: Type.String({ description: "Lower case, no dot; empty where there is none" }),
    mime: Type.String(),
    size: Type.Number({ description: "Bytes; 0 for a folder" }),
    created: Timestamp,
    modified: Timestamp,
    content_id: Type.Union([Hash, Type.Null()], {
      description: "SHA-256 of the content; null until hashed, and for folders",
    }),
    tags: Type.Array(Type.String()),
    fields: Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()), {
      description: "Custom fields by namespace",
    }),
    sidecars: Type.Array(Type.String(), { description: "Kinds of sidecar that exist for this entry" }),
    location: Type.String({
      description: 'The granted folder it was seen through; "." for the whole workspace',
    }),
  },
  closed,
);
export type Entry = Static<typeof Entry>;

export const EntryQuery = Type.Object(
  {
    path: Type.Optional(Type.String({ maxLength: 4096, description: "Glob over the path" })),
    tag: Type.Optional(Type.String({ maxLength: 256 })),
    kind: Type.Optional(
      Type.Union([...EntryKind.anyOf, ...Media.anyOf], {
        description: "A file or folder, or a file of this medium, as media says it",
      }),
    ),
    media: Type.Optional(Media),
    extension: Type.Optional(Type.String({ maxLength: 64 })),
    text: Type.Optional(
      Type.String({ maxLength: 256, description: "Occurs in the name, case-insensitively" }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 100 })),
    cursor: Type.Optional(Type.String({ maxLength: 4096 })),
  },
  closed,
);
export type EntryQuery = Static<typeof EntryQuery>;

export const EntryPage = Type.Object(
  { items: Type.Array(Entry), cursor: Type.Optional(Type.String()) },
  closed,
);
export type EntryPage = Static<typeof EntryPage>;
