import { mkdtempSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { codeOf } from "../../base/testing/code-of.ts";
import type { Hash } from "../../base/vocabulary/common.ts";
import { sha256 } from "./hash.ts";
import { openObjectStore, type ObjectStore } from "./object-store.ts";

let folder: string;
let store: ObjectStore;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "lares-objects-"));
  store = await openObjectStore(join(folder, "objects"));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const fileOf = (hash: Hash): string => join(folder, "objects", hash.slice(7, 9), hash.slice(9));

async function all(hash: Hash): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of store.stream(hash)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

test.each(["", "text", "x".repeat(2_500_000)])("keeps a content under its hash", async (content) => {
  const hash = await store.put(bytes(content));
  expect(hash).toBe(sha256(content));
  expect(statSync(fileOf(hash)).mode & 0o777).toBe(0o600);
  expect(await all(hash)).toBe(content);
  expect(await store.readRange(hash, 1, 2)).toEqual({
    bytes: bytes(content.slice(1, 3)),
    eof: content.length <= 3,
  });
  expect(await store.put(bytes(content))).toBe(hash);
});

test("a stream with unexpected content is refused with its path and not stored", async () => {
  async function* pieces() {
    yield bytes("one");
    yield bytes("two");
  }
  expect(await store.put(pieces(), { hash: sha256("onetwo"), path: "a" })).toBe(sha256("onetwo"));
  const wrong = store.put(pieces(), { hash: sha256("other"), path: "a" });
  await expect(wrong).rejects.toMatchObject({ code: "Stale", facts: { path: "a" } });
  expect(await store.has(sha256("other"))).toBe(false);
  expect(readdirSync(join(folder, "objects")).filter((name) => name.startsWith("incoming"))).toEqual([]);
});

test("a damaged or missing content is a StorageError when read, and rewritten when put", async () => {
  const hash = await store.put(bytes("content"));
  writeFileSync(fileOf(hash), "c0ntent");
  expect(await codeOf(all(hash))).toBe("StorageError");
  await store.put(bytes("content"), { hash, path: "a" });
  expect(await all(hash)).toBe("content");
  truncateSync(fileOf(hash), 3);
  expect(await codeOf(all(hash))).toBe("StorageError");
  expect(await codeOf(all(sha256("missing")))).toBe("StorageError");
});

test("sweep removes unreferenced contents; opening removes the remains of an interrupted put", async () => {
  const [kept, gone] = [await store.put(bytes("kept")), await store.put(bytes("gone"))];
  expect(await store.sweep(new Set([kept]))).toBe(1);
  expect([await store.has(kept), await store.has(gone)]).toEqual([true, false]);
  writeFileSync(join(folder, "objects/incoming-0123"), "half");
  store = await openObjectStore(join(folder, "objects"));
  expect(readdirSync(join(folder, "objects"))).not.toContain("incoming-0123");
});
