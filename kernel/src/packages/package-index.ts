import { Type, type Static } from "typebox";
import { isJsonObject } from "../base/json.ts";
import { ExtensionId, extensionIdPattern } from "../base/vocabulary/extension.ts";
import { indexBounds } from "./bounds.ts";
import { shownPath } from "./file-names.ts";
import { refusedPackage } from "./package-error.ts";
import type { VerifiedPackage } from "./package-file.ts";
import { fingerprintOf, packageVersionPattern, PublisherKeyText, Sha256Text } from "./package-record.ts";

const Text = (maxLength: number, description: string) => Type.String({ maxLength, description });

export const IndexEntry = Type.Object(
  {
    id: Type.String({ ...ExtensionId, description: "The extension's id" }),
    version: Type.String({
      maxLength: 64,
      pattern: packageVersionPattern,
      description: "The version of the package",
    }),
    name: Text(256, "What people call the extension"),
    description: Text(2_048, "What it is for, in a sentence"),
    url: Type.String({
      minLength: 1,
      maxLength: 4_096,
      description: "The package's address, relative to the index, or a whole http(s) address",
    }),
    sha256: Sha256Text,
    size: Type.Integer({ minimum: 1, description: "Bytes of the package" }),
    publisher: PublisherKeyText,
    permissions: Type.Array(Type.String({ maxLength: 256, description: "A permission's name" }), {
      maxItems: 64,
      description: "What it requests, for people who search; what counts is the manifest in the package",
    }),
  },
  { description: "A package that can be installed. Several versions of an extension have an entry each" },
);
export type IndexEntry = Static<typeof IndexEntry>;

export const PackageIndex = Type.Object(
  {
    format: Type.Literal(1, { description: "The version of this format" }),
    extensions: Type.Array(IndexEntry, {
      maxItems: indexBounds.maxExtensions,
      description: "The packages that there are",
    }),
  },
  { description: "A list of packages: a static file that anyone can host" },
);

export interface ReadIndex {
  readonly entries: readonly IndexEntry[];
  /** Entries that are left out because they have not the form of one. */
  readonly unusable: number;
}

const idForm = new RegExp(extensionIdPattern);
const versionForm = new RegExp(packageVersionPattern);

/** Reads an index. Entries without an entry's form are left out and counted. Throws InvalidDocument. */
export function readIndex(bytes: Uint8Array): ReadIndex {
  const wrong = (what: string): Error => refusedPackage("index", `The index ${what}. It is not used.`);
  if (bytes.length > indexBounds.maxIndexBytes)
    throw wrong(`has ${bytes.length} bytes; at most ${indexBounds.maxIndexBytes} are allowed`);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw wrong("is not JSON");
  }
  if (!isJsonObject(value) || !Array.isArray(value["extensions"])) throw wrong('has no list "extensions"');
  if (value["format"] !== 1) throw wrong("is of a format that this version of Lares does not read");
  const list: readonly unknown[] = value["extensions"];
  if (list.length > indexBounds.maxExtensions)
    throw wrong(`has ${list.length} entries; at most ${indexBounds.maxExtensions} are allowed`);
  const entries = list.filter(isEntry);
  return { entries, unusable: list.length - entries.length };
}

function isEntry(value: unknown): value is IndexEntry {
  if (!isJsonObject(value)) return false;
  const isText = (name: string, most: number): boolean => {
    const text = value[name];
    return typeof text === "string" && text.length <= most && text.isWellFormed();
  };
  const { id, version, url, sha256, size, publisher, permissions } = value;
  return (
    isText("id", 128) &&
    idForm.test(String(id)) &&
    isText("version", 64) &&
    versionForm.test(String(version)) &&
    isText("name", 256) &&
    isText("description", 2_048) &&
    isText("url", 4_096) &&
    url !== "" &&
    typeof sha256 === "string" &&
    /^[0-9a-f]{64}$/.test(sha256) &&
    Number.isSafeInteger(size) &&
    typeof publisher === "string" &&
    /^[A-Za-z0-9+/]{43}=$/.test(publisher) &&
    Array.isArray(permissions) &&
    permissions.length <= 64 &&
    permissions.every((name) => typeof name === "string" && name.length <= 256)
  );
}

/** Throws InvalidDocument if a package is not the one that the index describes. Its permissions are ignored. */
export function checkAgainstIndex({ record, sha256, size }: VerifiedPackage, entry: IndexEntry): void {
  const differences = [
    ...(record.id === entry.id ? [] : [`the id ${entry.id} and the package ${record.id}`]),
    ...(record.version === entry.version
      ? []
      : [`the version ${entry.version} and the package ${record.version}`]),
    ...(record.publisher === entry.publisher
      ? []
      : [
          `the publisher ${fingerprintOf(entry.publisher)} and the package ${fingerprintOf(record.publisher)}`,
        ]),
    ...(size === entry.size ? [] : [`${entry.size} bytes and the package has ${size}`]),
    ...(sha256 === entry.sha256 ? [] : [`the SHA-256 ${entry.sha256} and the package has ${sha256}`]),
  ];
  if (differences.length > 0)
    throw refusedPackage(
      "index",
      `The package at ${shownPath(entry.url)} is not the one in the index: the index says ${differences.join("; ")}. It is not used.`,
    );
}

/** Returns the entries with all of the words in their id, name, description or permissions, in the order of the index. */
export function matching(entries: readonly IndexEntry[], words: string): IndexEntry[] {
  const wanted = words
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  return entries.filter(({ id, name, description, permissions }) => {
    const text = [id, name, description, ...permissions].join("\n").toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}
