import * as v from "valibot";

/**
 * What the package commands of `lares` print with `--json`. Their texts come from packages and indexes of strangers; they are
 * bounded here, and made safe where they are drawn.
 */

const Text = (maxLength: number) =>
  v.pipe(
    v.string(),
    v.transform((text) => text.slice(0, maxLength)),
  );
const Texts = v.pipe(
  v.array(Text(1_000)),
  v.transform((texts) => texts.slice(0, 1_000)),
);
const Path = v.pipe(v.string(), v.maxLength(32_768));
const Id = v.pipe(v.string(), v.maxLength(128));

const Offer = v.object({
  id: Id,
  version: Text(100),
  name: Text(1_000),
  description: Text(1_000),
  license: Text(1_000),
  publisher: Text(100),
  fingerprint: Text(100),
  pinned: v.nullable(v.object({ publisher: Text(100), fingerprint: Text(100), since: Text(40) })),
  installed: v.nullable(Text(100)),
  size: v.number(),
  files: v.number(),
  /** Hexadecimal: the person's answer is about exactly these bytes. */
  sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  requests: Texts,
  hosts: Texts,
  /** What it requests beyond the installed version. */
  more: Texts,
  source: Text(2_000),
});
export type Offer = v.InferOutput<typeof Offer>;

const ChangedDocument = v.nullable(v.object({ file: Path, isNew: v.boolean() }));

export const Offered = v.object({ offer: Offer, document: ChangedDocument });
export type Offered = v.InferOutput<typeof Offered>;

export const Installed = v.object({ id: Id, version: Text(100) });

const ListedPackage = v.object({
  id: Id,
  name: Text(1_000),
  version: Text(100),
  folder: Path,
  scope: v.picklist(["user", "workspace"]),
  /** The documents of the workspace name it. */
  inUse: v.boolean(),
  fingerprint: Text(100),
  source: v.nullable(Text(2_000)),
  index: v.nullable(Text(2_000)),
  installed: v.nullable(Text(40)),
  fault: v.nullable(Text(1_000)),
  changed: Texts,
  missing: Texts,
  added: Texts,
});
export const Listed = v.object({ items: v.pipe(v.array(ListedPackage), v.maxLength(2_000)) });
/** `root`: the folder of the workspace for which it was listed, absolute. */
export type ListedPackage = v.InferOutput<typeof ListedPackage> & { readonly root: string };

const Updated = v.object({
  id: Id,
  scope: v.picklist(["user", "workspace"]),
  from: Text(100),
  to: v.nullable(Text(100)),
  state: v.picklist(["updated", "available", "current", "held", "declined", "failed"]),
  error: v.optional(Text(2_000)),
  offer: v.optional(Offer),
});
export const Updates = v.object({ items: v.pipe(v.array(Updated), v.maxLength(2_000)) });
export type Updated = v.InferOutput<typeof Updated>;

export const Removal = v.object({
  id: Id,
  folder: Path,
  document: ChangedDocument,
  memories: v.array(v.object({ folder: Path, isHere: v.boolean() })),
});
export type Removal = v.InferOutput<typeof Removal>;

export const Removed = v.object({ removed: Id, forgotten: v.boolean() });

const FoundExtension = v.object({
  id: Id,
  version: Text(100),
  name: Text(1_000),
  description: Text(1_000),
  size: v.number(),
  fingerprint: Text(100),
  permissions: Texts,
});
export const Search = v.object({
  items: v.pipe(
    v.array(FoundExtension),
    v.transform((items) => items.slice(0, 1_000)),
  ),
});
export type FoundExtension = v.InferOutput<typeof FoundExtension>;
