import { deflateRawSync } from "node:zlib";
import { checksum } from "../../platform/inflate.ts";
import type { KeyPair } from "../../platform/signatures.ts";
import { recordName } from "../bounds.ts";
import { recordText, signedRecord, type PackageRecord } from "../package-record.ts";

/** The first bytes of an Ed25519 private key in PKCS #8; its 32 bytes follow. */
const privateKeyPrefix = Buffer.from("302e020100300506032b657004220420", "hex");

/** Two keys of RFC 8032's test vectors, so that signatures are the same in every run. */
export const ours: KeyPair = {
  publicKey: Buffer.from("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "hex"),
  privateKey: Buffer.concat([
    privateKeyPrefix,
    Buffer.from("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60", "hex"),
  ]),
};
export const theirs: KeyPair = {
  publicKey: Buffer.from("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "hex"),
  privateKey: Buffer.concat([
    privateKeyPrefix,
    Buffer.from("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb", "hex"),
  ]),
};

export const text = (words: string): Uint8Array => new TextEncoder().encode(words);
export const about = { id: "com.example.photos", version: "1.2.0" } as const;
export const someFiles: ReadonlyMap<string, Uint8Array> = new Map([
  ["extension.yaml", text("extension: { id: com.example.photos, name: Photos, version: 1.2.0 }\n")],
  ["agent.js", text("export default {};\n")],
  ["prompts/größe.md", text("How large?\n")],
]);

/** An entry of a prepared archive; what is absent is as in a sound package. */
export interface PreparedEntry {
  readonly name: string | Uint8Array;
  readonly content: Uint8Array;
  readonly deflated?: boolean;
  /** The name that stands at the content. */
  readonly localName?: string;
  readonly mode?: number;
  /** The size that both headers state. */
  readonly declaredSize?: number;
  readonly packed?: Uint8Array;
  readonly flags?: number;
  readonly extra?: Uint8Array;
  readonly attributes?: number;
  readonly time?: number;
  readonly crc?: number;
  /** Bytes in front of the entry. */
  readonly before?: Uint8Array;
}

interface PreparedArchive {
  readonly comment?: Uint8Array;
  /** Bytes between the last content and the list. */
  readonly gap?: Uint8Array;
  readonly declaredCount?: number;
}

/** Makes a zip archive in which everything may be wrong. */
export function prepared(entries: readonly PreparedEntry[], archive: PreparedArchive = {}): Uint8Array {
  const parts: Buffer[] = [];
  const list: Buffer[] = [];
  let at = 0;
  const push = (bytes: Uint8Array): void => {
    parts.push(Buffer.from(bytes));
    at += bytes.length;
  };
  for (const entry of entries) {
    if (entry.before !== undefined) push(entry.before);
    const name = typeof entry.name === "string" ? Buffer.from(entry.name) : Buffer.from(entry.name);
    const localName = entry.localName === undefined ? name : Buffer.from(entry.localName);
    const packed = Buffer.from(
      entry.packed ?? (entry.deflated === true ? deflateRawSync(entry.content) : entry.content),
    );
    const extra = Buffer.from(entry.extra ?? []);
    const size = entry.declaredSize ?? entry.content.length;
    const flags = entry.flags ?? (name.some((byte) => byte > 0x7f) ? 0x800 : 0);
    const shared = Buffer.alloc(22);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(flags, 2);
    shared.writeUInt16LE(entry.deflated === true ? 8 : 0, 4);
    shared.writeUInt16LE(entry.time ?? 0, 6);
    shared.writeUInt16LE(0x21, 8);
    shared.writeUInt32LE(entry.crc ?? checksum(entry.content), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(size, 18);
    const lengths = (of: Buffer): Buffer => {
      const both = Buffer.alloc(4);
      both.writeUInt16LE(of.length, 0);
      both.writeUInt16LE(extra.length, 2);
      return both;
    };
    const end = Buffer.alloc(14);
    end.writeUInt32LE(entry.attributes ?? (entry.mode ?? 0o100644) * 2 ** 16, 6);
    end.writeUInt32LE(at, 10);
    list.push(Buffer.from("504b01021403", "hex"), shared, lengths(name), end, name, extra);
    push(Buffer.concat([Buffer.from("504b0304", "hex"), shared, lengths(localName), localName, extra]));
    push(packed);
  }
  if (archive.gap !== undefined) push(archive.gap);
  const central = Buffer.concat(list);
  const comment = Buffer.from(archive.comment ?? []);
  const tail = Buffer.alloc(22);
  tail.writeUInt32LE(0x06054b50, 0);
  tail.writeUInt16LE(archive.declaredCount ?? entries.length, 8);
  tail.writeUInt16LE(archive.declaredCount ?? entries.length, 10);
  tail.writeUInt32LE(central.length, 12);
  tail.writeUInt32LE(at, 16);
  tail.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...parts, central, tail, comment]);
}

/** The entries of a sound package with these files; sorted. */
export function soundEntries(
  files: ReadonlyMap<string, Uint8Array> = someFiles,
  key: KeyPair = ours,
  change: (record: PackageRecord) => object = (record) => record,
): PreparedEntry[] {
  const record = change(signedRecord(about, files, key)) as PackageRecord;
  return [...files, [recordName, text(recordText(record))] as const]
    .map(([name, content]) => ({ name, content }))
    .toSorted((one, other) => Buffer.compare(Buffer.from(one.name), Buffer.from(other.name)));
}
