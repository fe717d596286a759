import { createHash } from "node:crypto";
import { cp, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { canonicalJson } from "../base/json.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import { chainStart } from "../memory-contract/records.ts";
import { type ObjectStore, openObjectStore } from "../platform/files/object-store.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import type { Journal } from "./journal.ts";
import { maxInlineBytes } from "./parts.ts";
import { encodeRecord, maxPartsPerRecord } from "./record.ts";
import { type TestKind, TestJournal, testRecords } from "./testing/journals.ts";
import { verifyJournal } from "./verify.ts";

let folder: string;
let objects: ObjectStore;
let kept: TestJournal;

beforeEach(async () => {
  folder = await temporaryFolder();
  objects = await openObjectStore(join(folder, "objects"));
  kept = new TestJournal(join(folder, "journal"), { parts: objects });
});

const bytes = (text: string): Uint8Array => Buffer.from(text);
const hashOf = (text: string): Hash => `sha256:${createHash("sha256").update(text).digest("hex")}`;

/** The hashes on the disk, in order. */
async function stored(): Promise<Hash[]> {
  return [...(await objects.sizes()).keys()].toSorted();
}

/** Appends a record that names the texts as its parts. */
async function append(journal: Journal<TestKind>, id: string, ...texts: readonly string[]): Promise<void> {
  const parts = await Promise.all(texts.map((text) => journal.keep(bytes(text))));
  const data = canonicalJson({ objects: parts.map(({ hash }) => hash) });
  await journal.append([{ operation: "store", kind: "temporal", id, data, parts }]);
  for (const part of parts) part[Symbol.dispose]();
}

async function textOf(journal: Journal<TestKind>, hash: Hash): Promise<string> {
  return Buffer.concat(await Array.fromAsync(journal.readPart(hash))).toString();
}

describe("a line", () => {
  const hashes = [hashOf("one"), hashOf("two")];
  const look = (data: string, parts: readonly Hash[] = []) => {
    const input = { operation: "store", kind: "temporal", id: "x", data } as const;
    const named = parts.map((hash) => ({ hash }));
    const { line } = encodeRecord({ ...input, parts: named }, chainStart, "a".repeat(32), 0);
    const bytesOfLine = Buffer.from(line.slice(0, -1));
    const record = testRecords.decode(bytesOfLine, chainStart);
    if (typeof record === "string") throw new Error(record);
    return { parts: record.parts, data: bytesOfLine.toString("utf8", record.dataStart, record.dataEnd) };
  };
  const looksLikeParts = `,"parts":["${hashes[0]}"]`;

  test.each([
    '"text"',
    '["text"]',
    '[["text"]]',
    JSON.stringify(looksLikeParts),
    JSON.stringify([looksLikeParts]),
    JSON.stringify({ parts: hashes }),
    JSON.stringify(hashes),
    "1",
  ])("with the data %s is read as it was written, with parts and without", (data) => {
    expect(look(data)).toEqual({ data, parts: [] });
    expect(look(data, hashes)).toEqual({ data, parts: hashes });
  });

  test("without parts is what it was before there were any", () => {
    const input = { operation: "store", kind: "temporal", id: "x", data: "1" } as const;
    const of = (parts?: []) => encodeRecord({ ...input, ...(parts && { parts }) }, chainStart, "a", 0).line;
    expect(of([])).toBe(of());
    expect(of()).toMatch(/^\{"data":1,"salt":"a","hash":/);
  });
});

test("a part is read whole, also when the journal is opened again", async () => {
  const text = "x".repeat(2_500_000);
  await kept.within((journal) => append(journal, "a", text, "other"));
  await kept.within(async (journal) => {
    expect(await textOf(journal, hashOf(text))).toBe(text);
    expect([...(await journal.parts())]).toEqual([
      [hashOf(text), 1],
      [hashOf("other"), 1],
    ]);
    expect(await journal.verify()).toMatchObject({ ok: true, records: 1 });
  });
});

test("only a content over the bound becomes a part", async () => {
  await kept.within(async (journal) => {
    expect(await journal.keepIfLarge(Buffer.alloc(maxInlineBytes))).toBe(null);
    using part = await journal.keepIfLarge(Buffer.alloc(maxInlineBytes + 1));
    expect(part?.bytes).toBe(maxInlineBytes + 1);
  });
});

test("a redaction removes the parts that no other record names", async () => {
  await kept.within(async (journal) => {
    await append(journal, "a", "only a's", "shared");
    await append(journal, "b", "shared", "only b's");
    await journal.redact(({ seq }) => seq === 1, "a", "told to");
    expect(await stored()).toEqual([hashOf("shared"), hashOf("only b's")].toSorted());
    await expect(textOf(journal, hashOf("only a's"))).rejects.toMatchObject({ code: "StorageError" });
    expect(await journal.verify()).toMatchObject({ ok: true, records: 3 });
    await journal.redact(({ seq }) => seq === 2, "b", "told to");
    expect(await stored()).toEqual([]);
  });
  const files = await readdir(join(folder, "journal"));
  expect(files.length).toBeGreaterThan(0);
});

test("a redaction keeps a part whose record is not appended yet", async () => {
  await kept.within(async (journal) => {
    await append(journal, "a", "old");
    using held = await journal.keep(bytes("held before"));
    const redacting = journal.redact(({ seq }) => seq === 1, "a", "told to");
    using meanwhile = await journal.keep(bytes("held meanwhile"));
    await redacting;
    const parts = [held, meanwhile];
    await journal.append([{ operation: "store", kind: "temporal", id: "b", data: "1", parts }]);
    expect(await stored()).toEqual(parts.map(({ hash }) => hash).toSorted());
    expect(await journal.verify()).toMatchObject({ ok: true });
  });
});

test("a part that was kept for no record is removed when the journal is next opened", async () => {
  await kept.within(async (journal) => {
    await append(journal, "a", "named");
    using _part = await journal.keep(bytes("forgotten"));
    const expectedHead = chainStart;
    const record = { operation: "store", kind: "temporal", id: "b", data: "1", parts: [_part] } as const;
    await expect(journal.append([record], { expectedHead })).rejects.toMatchObject({ code: "Conflict" });
  });
  expect(await stored()).toHaveLength(2);
  await kept.within(async () => expect(await stored()).toEqual([hashOf("named")]));
});

test("a record cannot name a part that was disposed of, nor more than the bound", async () => {
  await kept.within(async (journal) => {
    const part = await journal.keep(bytes("a"));
    const record = { operation: "store", kind: "temporal", id: "x", data: "1" } as const;
    const many = Array.from({ length: maxPartsPerRecord + 1 }, () => part);
    await expect(async () => journal.append([{ ...record, parts: many }])).rejects.toMatchObject({
      code: "InvalidParams",
    });
    part[Symbol.dispose]();
    await expect(async () => journal.append([{ ...record, parts: [part] }])).rejects.toMatchObject({
      code: "InvalidParams",
    });
    expect(journal.end).toEqual(chainStart);
  });
});

test("parts count against the limit of the journal", async () => {
  const small = new TestJournal(join(folder, "journal"), { parts: objects, maxBytes: () => 2500 });
  await small.within(async (journal) => {
    await append(journal, "a", "x".repeat(1200));
    await expect(journal.keep(bytes("y".repeat(1200)))).rejects.toMatchObject({ code: "LimitExceeded" });
    const data = JSON.stringify("z".repeat(500));
    await expect(
      journal.append([{ operation: "store", kind: "temporal", id: "b", data }]),
    ).rejects.toMatchObject({ code: "LimitExceeded" });
    await journal.redact(({ seq }) => seq === 1, "a", "told to");
    await append(journal, "b", "y".repeat(900));
  });
});

describe("verify", () => {
  const fileOf = (hash: Hash): string => join(folder, "objects", hash.slice(7, 9), hash.slice(9));

  test.each([
    ["missing", (path: string) => rm(path)],
    ["other bytes", (path: string) => writeFile(path, "b's secreT")],
    ["cut off", (path: string) => writeFile(path, "b's")],
  ])("names the record whose part is %s, and the journal continues", async (_name, spoil) => {
    await kept.within(async (journal) => {
      await append(journal, "a", "a's secret");
      await append(journal, "b", "b's secret");
      await spoil(fileOf(hashOf("b's secret")));
      const bad = { ok: false, records: 2, firstBad: { seq: 2, reason: expect.stringContaining("part") } };
      expect(await journal.verify()).toMatchObject(bad);
      expect(await verifyJournal(kept.folder, journal.end, testRecords, { parts: objects })).toMatchObject(
        bad,
      );
      await append(journal, "c", "c's secret");
      expect(await textOf(journal, hashOf("a's secret"))).toBe("a's secret");
    });
  });

  test("rejects with the reason of an aborted signal, and the journal continues", async () => {
    await kept.within(async (journal) => {
      await append(journal, "a", "part");
      const giving = new AbortController();
      const verifying = journal.verify(giving.signal);
      giving.abort(new Error("given up"));
      await expect(verifying).rejects.toThrow("given up");
      await append(journal, "b", "another");
      expect(await journal.verify()).toMatchObject({ ok: true, records: 2 });
    });
  });

  test("proves a copy of the segments and of the parts that an export takes", async () => {
    const copy = await temporaryFolder();
    const taken = await openObjectStore(join(copy, "objects"));
    const end = await kept.within(async (journal) => {
      await append(journal, "a", "redacted");
      await append(journal, "b", "one", "two");
      await journal.redact(({ seq }) => seq === 1, "a", "told to");
      for (const hash of (await journal.parts()).keys())
        await taken.put(journal.readPart(hash), { hash, path: "a part" });
      return journal.end;
    });
    await cp(join(folder, "journal"), join(copy, "journal"), { recursive: true });
    const verify = () => verifyJournal(join(copy, "journal"), end, testRecords, { parts: taken });
    expect(await verify()).toMatchObject({ ok: true, records: 3 });
    await taken.sweep(new Set([hashOf("one")]));
    expect(await verify()).toMatchObject({ ok: false, firstBad: { seq: 2 } });
  });
});
