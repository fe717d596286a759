import { Type, type Static } from "typebox";
import { closed, Hash, PathOf, Timestamp } from "./common.ts";

export const Media = Type.Union(
  [
    Type.Literal("image"),
    Type.Literal("video"),
    Type.Literal("audio"),
    Type.Literal("document"),
    Type.Literal("text"),
    Type.Literal("other"),
  ],
  { description: "What the file holds, by its type" },
);
export type Media = Static<typeof Media>;

export const EntryKind = Type.Union([Type.Literal("file"), Type.Literal("folder")], {
  description: "A file or a folder",
});
export type EntryKind = Static<typeof EntryKind>;

/** A file or folder of the workspace, as recorded in the index. */
export const Entry = Type.Object(
  {
    id: Type.String({ description: "The entry's id, which stays the same when the entry is moved" }),
    path: PathOf("Where it is"),
    name: Type.String({ description: "The last component of the path" }),
    kind: EntryKind,
    media: Media,
    extension: Type.String({
      description: "The file name's extension: lower case, no dot; empty if there is none",
    }),
    mime: Type.String({ description: "Media type (MIME), such as image/jpeg" }),
    size: Type.Number({ description: "Size in bytes; 0 for a folder" }),
    created: Timestamp("When it was created"),
    modified: Timestamp("When its content was changed"),
    content_id: Type.Union([Hash, Type.Null()], {
      description: "SHA-256 of the content; null until it is hashed, and for folders",
    }),
    tags: Type.Array(Type.String(), { description: "Its tags" }),
    fields: Type.Record(Type.String(), Type.Record(Type.String(), Type.Unknown()), {
      description: "Custom fields by namespace",
    }),
    sidecars: Type.Array(Type.String(), { description: "Kinds of sidecar that exist for this entry" }),
    location: Type.String({
      description: 'The granted folder it was seen through; "." for the whole workspace',
    }),
  },
  { ...closed, description: "A file or folder of the workspace, as the index knows it" },
);
export type Entry = Static<typeof Entry>;

export const EntryQuery = Type.Object(
  {
    path: Type.Optional(
      Type.String({ maxLength: 4096, description: "Only entries whose path matches this glob" }),
    ),
    tag: Type.Optional(Type.String({ maxLength: 256, description: "Only entries that have this tag" })),
    kind: Type.Optional(
      Type.Union([...EntryKind.anyOf, ...Media.anyOf], {
        description: "Only files, only folders, or only files of this medium, as `media`",
      }),
    ),
    media: Type.Optional(Type.Union(Media.anyOf, { description: "Only files of this medium" })),
    extension: Type.Optional(
      Type.String({ maxLength: 64, description: "Only files with this extension; lower case, no dot" }),
    ),
    text: Type.Optional(
      Type.String({
        maxLength: 256,
        description: "Only entries whose name contains this, case-insensitively",
      }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, default: 100, description: "How many to answer at most" }),
    ),
    cursor: Type.Optional(
      Type.String({
        maxLength: 4096,
        description: "The `cursor` of the previous page, to continue after it",
      }),
    ),
  },
  closed,
);
export type EntryQuery = Static<typeof EntryQuery>;

export const EntryPage = Type.Object(
  {
    items: Type.Array(Entry, { description: "Ordered by path" }),
    cursor: Type.Optional(Type.String({ description: "There are more: ask again with this" })),
  },
  closed,
);
export type EntryPage = Static<typeof EntryPage>;
