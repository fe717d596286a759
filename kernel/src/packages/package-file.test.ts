import { deflateRawSync } from "node:zlib";
import compareVersions from "semver/functions/compare.js";
import { describe, expect, test } from "vitest";
import { sha256Hex } from "../platform/files/hash.ts";
import { signMessage } from "../platform/signatures.ts";
import { canonicalJson } from "../base/json.ts";
import { packageBounds, recordName } from "./bounds.ts";
import { readPackage, writeArchive, writePackage } from "./package-file.ts";
import {
  fingerprintOf,
  packageVersionPattern,
  readRecord,
  signedRecord,
  type PackageRecord,
} from "./package-record.ts";
import {
  about,
  ours,
  prepared,
  type PreparedEntry,
  someFiles,
  soundEntries,
  text,
  theirs,
} from "./testing/archives.ts";

const sound = writePackage(about, someFiles, ours);
const signed = (record: Omit<PackageRecord, "signature">, key = ours): PackageRecord => ({
  ...record,
  signature: Buffer.from(signMessage(canonicalJson(record), key.privateKey)).toString("base64"),
});
/** A package whose record was changed and signed again. */
const withRecord = (change: (record: Record<string, unknown>) => Record<string, unknown>): Uint8Array =>
  prepared(
    soundEntries(someFiles, ours, ({ signature: _signature, ...record }) =>
      signed(change(record) as Omit<PackageRecord, "signature">),
    ),
  );
/** A sound package with one entry more, or another one. */
const withEntry = (entry: PreparedEntry, others = soundEntries()): Uint8Array =>
  prepared(
    [...others.filter(({ name }) => name !== entry.name), entry].toSorted((one, other) =>
      Buffer.compare(Buffer.from(one.name), Buffer.from(other.name)),
    ),
  );
const hostile = (name: string): Uint8Array => withEntry({ name, content: text("x") });

describe("a package", () => {
  test("has exactly these bytes", () => {
    expect(sha256Hex(sound)).toBe("2d7fb6aac5bed6c29f78f4a3ac69c2722c22afda1917024b3ae347eb3c5ade1b");
    const { record, files, sha256, size } = readPackage(sound);
    expect(record).toEqual({
      format: 1,
      id: "com.example.photos",
      version: "1.2.0",
      files: Object.fromEntries([...someFiles].map(([path, bytes]) => [path, sha256Hex(bytes)])),
      publisher: "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
      signature: expect.stringMatching(/^[A-Za-z0-9+/]{86}==$/),
    });
    expect([...files.keys()]).toEqual(["agent.js", "extension.yaml", "prompts/größe.md"]);
    expect([sha256, size]).toEqual([sha256Hex(sound), sound.length]);
  });

  test("has the same bytes whatever the order of its files, the time zone and the umask", () => {
    const before = { zone: process.env["TZ"], umask: process.umask(0o077) };
    try {
      for (const zone of ["UTC", "Asia/Tokyo", "America/St_Johns", "Pacific/Apia"]) {
        process.env["TZ"] = zone;
        expect(writePackage(about, new Map([...someFiles].toReversed()), ours)).toEqual(sound);
      }
    } finally {
      process.umask(before.umask);
      if (before.zone === undefined) delete process.env["TZ"];
      else process.env["TZ"] = before.zone;
    }
  });

  test("of another packer is read, with deflated contents too", () => {
    const entries = soundEntries().map((entry) => ({ ...entry, deflated: true }));
    const hex = (bytes: Uint8Array): [string, string][] =>
      [...readPackage(bytes).files].map(([path, content]) => [path, Buffer.from(content).toString("hex")]);
    expect(hex(prepared(entries))).toEqual(hex(sound));
    expect(prepared(soundEntries())).toEqual(Buffer.from(sound));
  });

  test("is refused with any single byte changed", () => {
    for (let at = 0; at < sound.length; at++)
      for (const flip of [0x01, 0x80, 0xff]) {
        const changed = Uint8Array.from(sound);
        changed[at] = (changed[at] ?? 0) ^ flip;
        expect(() => readPackage(changed), `byte ${at} ^ ${flip}`).toThrow();
      }
  });

  test("is refused when cut at any place, or with bytes before, between or behind", () => {
    for (let end = 0; end < sound.length; end++)
      expect(() => readPackage(sound.subarray(0, end)), `${end}`).toThrow();
    const more = text("#!/bin/sh\n");
    expect(() => readPackage(Buffer.concat([more, sound]))).toThrow("the list of its files and its end");
    expect(() => readPackage(Buffer.concat([sound, more]))).toThrow("bytes behind its end");
    const entries = soundEntries();
    expect(() => readPackage(prepared(entries, { gap: more }))).toThrow("belong to none of its files");
    expect(() => readPackage(prepared(entries, { comment: more }))).toThrow("bytes behind its end");
    const [first, ...rest] = entries;
    expect(() => readPackage(prepared([{ ...first!, before: more }, ...rest]))).toThrow("belong to no file");
    expect(() => readPackage(prepared([{ ...first!, extra: more }, ...rest]))).toThrow("extra fields");
  });
});

describe("names that are refused", () => {
  test.each([
    ["../evil", "leaves its folder"],
    ["a/../../evil", "leaves its folder"],
    ["./a", "leaves its folder"],
    ["/etc/passwd", "is absolute"],
    ["a\\..\\b", "backslash"],
    ["C:evil", "every system"],
    ["a//b", "empty part"],
    ["a/b/", "the folder"],
    ["nul", "device"],
    ["docs/COM1.txt", "device"],
    ["Lpt9", "device"],
    ["a.", "dot or a space"],
    ["a /b", "dot or a space"],
    ["a\u0000b", "every system"],
    ["a\nb", "every system"],
    ["a\u202eb", "every system"],
    ["u\u0308", "NFC"],
    ["x".repeat(241), "240 bytes"],
    [Array.from({ length: 17 }, () => "a").join("/"), "16 folders"],
    ["__proto__", "not a name"],
    ["42", "not a name"],
  ])("%j", (name, why) => {
    expect(() => readPackage(hostile(name))).toThrow(why);
    if (!name.endsWith("/"))
      expect(() => writePackage(about, new Map([...someFiles, [name, text("x")]]), ours)).toThrow(why);
  });

  test.each([
    ["AGENT.JS", "agent.js"],
    ["Extension.yaml", "extension.yaml"],
    ["PROMPTS/other.md", "prompts"],
    ["agent.js/x", "agent.js"],
    ["ﬁle", "file"],
    ["package.json", recordName],
  ])("%j beside %j, one name on some systems", (name, other) => {
    const files = new Map([...someFiles, ["file", text("")]]);
    expect(() => readPackage(withEntry({ name, content: text("x") }, soundEntries(files)))).toThrow(
      /are the same name on some systems/,
    );
    expect(other).not.toBe(name);
  });

  test("the same name twice", () => {
    const entries = soundEntries();
    const twice = [...entries.slice(0, 1), ...entries];
    expect(() => readPackage(prepared(twice))).toThrow("same name");
  });

  test("bytes that are not UTF-8", () => {
    const name = Buffer.from([0x66, 0xff]);
    expect(() =>
      readPackage(prepared([...soundEntries(), { name, content: text("x"), flags: 0x800 }])),
    ).toThrow("not UTF-8");
  });

  test("another one in the list than at the content", () => {
    const entries = soundEntries().map((entry) =>
      entry.name === "agent.js" ? { ...entry, localName: "evil2.js" } : entry,
    );
    expect(() => readPackage(prepared(entries))).toThrow("another name");
  });
});

describe("entries that are refused", () => {
  const changed = (change: Partial<PreparedEntry>): Uint8Array =>
    prepared(soundEntries().map((entry) => (entry.name === "agent.js" ? { ...entry, ...change } : entry)));
  test.each<[string, Partial<PreparedEntry>, string]>([
    ["a link", { mode: 0o120777 }, "is a link"],
    ["a named pipe", { mode: 0o010644 }, "not a regular file"],
    ["a device", { mode: 0o060644 }, "not a regular file"],
    ["a folder by its attribute", { attributes: 0o100644 * 2 ** 16 + 0x10 }, "not a regular file"],
    ["an executable file", { mode: 0o100755 }, "another time, mode or version"],
    ["another time", { time: 0x4000 }, "another time, mode or version"],
    ["encryption", { flags: 1 }, "encrypted"],
    ["a size behind the content", { flags: 8 }, "encrypted, or its size stands behind"],
    [
      "another content under the same checksum field",
      { content: text("export default {}; "), crc: 1 },
      "checksum",
    ],
    ["another content", { content: text("export default 1;\n") }, "not the file that was signed"],
    ["two sizes", { declaredSize: 5 }, "two sizes"],
    ["a size of zip64", { declaredSize: 0xffffffff }, "zip64"],
  ])("%s", (_what, change, why) => {
    expect(() => readPackage(changed(change))).toThrow(why);
  });

  test("a name that is not sorted", () => {
    expect(() => readPackage(prepared(soundEntries().toReversed()))).toThrow("not sorted");
  });

  test("more files than allowed, before any is looked at", () => {
    expect(() => readPackage(prepared([], { declaredCount: 3000 }))).toThrow("3000 files");
    expect(() => readPackage(prepared([], { declaredCount: 0xffff }))).toThrow("zip64");
  });
});

describe("bombs are refused before they are unpacked", () => {
  const zeros = new Uint8Array(4 * 1024 * 1024);
  test("by their ratio", () => {
    expect(() => readPackage(withEntry({ name: "bomb", content: zeros, deflated: true }))).toThrow(
      "more than 200 times",
    );
  });
  test("by the size of a file", () => {
    const entry = {
      name: "bomb",
      content: zeros,
      deflated: true,
      declaredSize: packageBounds.maxFileBytes + 1,
    };
    expect(() => readPackage(withEntry(entry))).toThrow("when unpacked; at most");
  });
  test("by the size of all files", () => {
    const packed = new Uint8Array(300_000);
    const many = ["b1", "b2", "b3", "b4"].map((name) => ({
      name,
      content: zeros,
      deflated: true,
      packed,
      declaredSize: 40 * 1024 * 1024,
    }));
    expect(() => readPackage(prepared(many))).toThrow("when unpacked, so it is not unpacked");
  });
  test("that say another size than they have", () => {
    const content = text("a".repeat(1000));
    const files = new Map([...someFiles, ["bomb", content]]);
    const lying = (declaredSize: number): Uint8Array =>
      withEntry({ name: "bomb", content, deflated: true, declaredSize }, soundEntries(files));
    expect(() => readPackage(lying(999))).toThrow("does not unpack to the 999 bytes");
    expect(() => readPackage(lying(1001))).toThrow("does not unpack to the 1001 bytes");
  });
  test("with bytes behind the end of a compressed content", () => {
    const files = soundEntries().map((entry) =>
      entry.name === "agent.js"
        ? { ...entry, deflated: true, packed: Buffer.concat([deflateRawSync(entry.content), text("more")]) }
        : entry,
    );
    expect(() => readPackage(prepared(files))).toThrow("does not unpack to");
  });
});

describe("records that are refused", () => {
  test("of an archive without one", () => {
    expect(() => readPackage(writeArchive(someFiles))).toThrow("not a package of Lares");
  });
  test.each<[string, (record: Record<string, unknown>) => Record<string, unknown>, string]>([
    ["another format", (record) => ({ ...record, format: 2 }), "reads format 1"],
    ["an unknown field", (record) => ({ ...record, trusted: true }), "unknown field trusted"],
    ["an id that is a path", (record) => ({ ...record, id: "../../x" }), "for an id"],
    ["a version that is none", (record) => ({ ...record, version: "latest" }), "for a version"],
    ["no files", (record) => ({ ...record, files: [] }), "lists no files"],
    [
      "a file that leaves",
      (record) => ({ ...record, files: { "../x": "0".repeat(64) } }),
      "leaves its folder",
    ],
    ["a digest that is none", (record) => ({ ...record, files: { x: "0" } }), "no SHA-256"],
    ["a short key", (record) => ({ ...record, publisher: "AAAA" }), "names no publisher"],
    [
      "a key in another spelling",
      (record) => ({ ...record, publisher: `${String(record["publisher"])}\n` }),
      "names no",
    ],
  ])("%s", (_what, change, why) => {
    expect(() => readPackage(withRecord(change))).toThrow(why);
  });
  test("signed by another key than they name", () => {
    const { signature: _signature, ...record } = signedRecord(about, someFiles, ours);
    const entries = soundEntries(someFiles, ours, () => signed(record, theirs));
    expect(() => readPackage(prepared(entries))).toThrow("signature is not its publisher's");
  });
  test("that leave out a file, or list one more", () => {
    expect(() =>
      readPackage(
        withRecord((record) => ({
          ...record,
          files: { ...(record["files"] as object), "b.js": "0".repeat(64) },
        })),
      ),
    ).toThrow("b.js was signed and is not in the package");
    expect(() => readPackage(withEntry({ name: "b.js", content: text("x") }))).toThrow("was not signed");
  });
  test("that are not JSON, or too long", () => {
    expect(() => readRecord(text("[]"))).toThrow("not a JSON object");
    expect(() => readRecord(text("{"))).toThrow("not a JSON object");
    expect(() => readRecord(new Uint8Array(packageBounds.maxRecordBytes + 1))).toThrow("at most");
  });
});

test("a fingerprint is the digest of the raw key", () => {
  expect(fingerprintOf(Buffer.from(ours.publicKey).toString("base64"))).toBe(
    `SHA256:${Buffer.from(sha256Hex(ours.publicKey), "hex").toString("base64").replace("=", "")}`,
  );
});

test("every version that a package may have can be compared with every other", () => {
  const form = new RegExp(packageVersionPattern);
  for (const version of ["1.2.3-a..b", "1.2.3-.", "1.2.3-a.", "1.2.3+..", "1.2.3-"])
    expect(form.test(version), version).toBe(false);
  for (const version of [
    "1.2.3",
    "01.2.3-00",
    "999999999.0.0",
    "1.2.3--a.-+b-.0",
    "1.2.3-99999999999999999999",
  ]) {
    expect(form.test(version), version).toBe(true);
    expect([-1, 0, 1]).toContain(compareVersions(version, "1.0.0", true));
  }
});
