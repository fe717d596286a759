import { Type, type Static } from "typebox";
import { canonicalJson, isJsonObject } from "../base/json.ts";
import { ExtensionId, extensionIdPattern } from "../base/vocabulary/extension.ts";
import { sha256Hex } from "../platform/files/hash.ts";
import { isSignedBy, publicKeyBytes, signatureBytes, signMessage } from "../platform/signatures.ts";
import { packageBounds, recordName } from "./bounds.ts";
import { nameFault, shownPath } from "./file-names.ts";
import { refusedPackage } from "./package-error.ts";

const closed = { additionalProperties: false } as const;

const labels = "[0-9A-Za-z-]{1,40}(?:\\.[0-9A-Za-z-]{1,40})*";

/** A version of the form 1.2.3, with or without a pre-release or build. Each can be compared with every other. */
export const packageVersionPattern = `^\\d{1,9}\\.\\d{1,9}\\.\\d{1,9}(?:-${labels})?(?:\\+${labels})?$`;

export const PublisherKeyText = Type.String({
  pattern: "^[A-Za-z0-9+/]{43}=$",
  description: "The publisher's Ed25519 public key: its raw 32 bytes in base64",
});
export const Sha256Text = Type.String({ pattern: "^[0-9a-f]{64}$", description: "SHA-256, hexadecimal" });

export const PackageRecord = Type.Object(
  {
    format: Type.Literal(1, { description: "The version of this format" }),
    id: Type.String({ ...ExtensionId, description: "The extension's id, as in its manifest" }),
    version: Type.String({
      maxLength: 64,
      pattern: packageVersionPattern,
      description: "The extension's version, as in its manifest",
    }),
    files: Type.Record(Type.String(), Sha256Text, {
      description: `The SHA-256 of every file in the package except ${recordName}, by its path with "/"`,
    }),
    publisher: PublisherKeyText,
    signature: Type.String({
      pattern: "^[A-Za-z0-9+/]{86}==$",
      description:
        "The publisher's Ed25519 signature, 64 bytes in base64, over the RFC 8785 form of this object without it",
    }),
  },
  { ...closed, description: `${recordName}: describes and signs the files of a package` },
);
export type PackageRecord = Static<typeof PackageRecord>;

/** Describes and signs files. `publicKey`: 32 bytes; `privateKey`: PKCS #8. */
export function signedRecord(
  { id, version }: { readonly id: string; readonly version: string },
  files: ReadonlyMap<string, Uint8Array>,
  { publicKey, privateKey }: { readonly publicKey: Uint8Array; readonly privateKey: Uint8Array },
): PackageRecord {
  const unsigned = {
    format: 1 as const,
    id,
    version,
    files: Object.fromEntries([...files].map(([path, bytes]) => [path, sha256Hex(bytes)])),
    publisher: Buffer.from(publicKey).toString("base64"),
  };
  const signature = Buffer.from(signMessage(canonicalJson(unsigned), privateKey)).toString("base64");
  return { ...unsigned, signature };
}

/** The file's text: the same for the same record. */
export const recordText = (record: PackageRecord): string => `${canonicalJson(record)}\n`;

const fields = ["format", "id", "version", "files", "publisher", "signature"] as const;
const idForm = new RegExp(extensionIdPattern);
const versionForm = new RegExp(packageVersionPattern);

/** Reads PACKAGE.json and verifies its signature. Throws InvalidDocument. */
export function readRecord(bytes: Uint8Array): PackageRecord {
  const wrong = (what: string): Error =>
    refusedPackage("record", `${recordName} of the package ${what}. The package is not used.`);
  if (bytes.length > packageBounds.maxRecordBytes)
    throw wrong(`has ${bytes.length} bytes; at most ${packageBounds.maxRecordBytes} are allowed`);
  const value = parsed(bytes);
  if (!isJsonObject(value)) throw wrong("is not a JSON object");
  if (value["format"] !== 1)
    throw wrong(`is of the format ${short(value["format"])}, and this version of Lares reads format 1`);
  const extra = Object.keys(value).find((key) => !fields.some((field) => field === key));
  if (extra !== undefined) throw wrong(`has an unknown field ${shownPath(extra)}`);
  const { id, version, files, publisher, signature } = value;
  if (typeof id !== "string" || id.length > 128 || !idForm.test(id) || nameFault(id) !== null)
    throw wrong(`has ${short(id)} for an id`);
  if (typeof version !== "string" || version.length > 64 || !versionForm.test(version))
    throw wrong(`has ${short(version)} for a version; write it like 1.2.3`);
  if (!isJsonObject(files)) throw wrong("lists no files");
  for (const [path, digest] of Object.entries(files)) {
    const fault = nameFault(path);
    if (fault !== null) throw wrong(`lists a file whose name ${shownPath(path)} ${fault}`);
    if (typeof digest !== "string" || !/^[0-9a-f]{64}$/.test(digest))
      throw wrong(`has no SHA-256 for ${shownPath(path)}`);
  }
  const key = bytesOf(publisher, publicKeyBytes);
  const signed = bytesOf(signature, signatureBytes);
  if (key === null) throw wrong("names no publisher's key");
  if (signed === null) throw wrong("has no signature");
  const { signature: _signature, ...rest } = value;
  if (!isSignedBy(canonicalJson(rest), key, signed))
    throw refusedPackage(
      "signature",
      "The package's signature is not its publisher's: it was changed after it was signed. It is not used.",
    );
  return value as PackageRecord;
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as unknown;
  } catch {
    return null;
  }
}

const short = (value: unknown): string => shownPath(JSON.stringify(value)?.slice(0, 80) ?? "nothing");

/** Decodes canonical base64. Returns null for any other text. */
export function bytesOf(text: unknown, length: number): Uint8Array | null {
  if (typeof text !== "string" || text.length > 2 * length + 4) return null;
  const bytes = Buffer.from(text, "base64");
  return bytes.length === length && bytes.toString("base64") === text ? bytes : null;
}

/** Returns a publisher's key as people compare it: `SHA256:` and the digest of its 32 bytes in base64. */
export function fingerprintOf(publisher: string): string {
  const digest = Buffer.from(sha256Hex(Buffer.from(publisher, "base64")), "hex");
  return `SHA256:${digest.toString("base64").replace(/(?<!=)=+$/, "")}`;
}
