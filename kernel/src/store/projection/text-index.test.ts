import {
  closeSync,
  copyFileSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import type { JsonValue } from "../../base/json.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import type { JournalRecord, TextIndex } from "./port.ts";
import { endOf, idOf, redacting, storing } from "./testing/test-memory.ts";
import { removeText, verifyText } from "./testing/text-file.ts";
import { openTextIndex } from "./text-index.ts";
import { maxBestWords, maxRankedRows } from "./text-ranking.ts";

const storageError = expect.objectContaining({ code: "StorageError" });

async function emptyIndex(): Promise<{ path: string; index: TextIndex }> {
  const path = join(await temporaryFolder(), "text.sqlite");
  const index = openTextIndex(path);
  onTestFinished(() => index.close());
  return { path, index };
}

const texts = (...all: JsonValue[]): JournalRecord[] =>
  // The rows are too far from each other to be neighbours.
  storing(all.map((data, n) => ({ variant: "v", timestampMs: n * 24 * 60 * 60_000, data })));

const knowledge = (
  seq: number,
  operation: "store" | "update" | "delete",
  of: number,
  data: JsonValue,
): JournalRecord => ({ seq, writtenMs: 0, operation, kind: "knowledge", id: idOf(of), data });

const apply = (index: TextIndex, records: readonly JournalRecord[]): void =>
  index.apply(records, endOf(records));

describe("the best rows", () => {
  it("come first if they contain more of the words, and rarer ones", async () => {
    const { index } = await emptyIndex();
    apply(
      index,
      texts(
        "beach path",
        "beach sea",
        ...Array.from({ length: 50 }, (_, n) => (n < 4 ? "sea path" : "a path")),
      ),
    );
    const best = index.best("temporal", "beach sea", { limit: 10 });
    expect(best.map(({ row }) => row).slice(0, 2)).toEqual([2, 1]);
    expect(best).toHaveLength(6);
    expect(best.every(({ score }, at) => score > 0 && score <= (best[at - 1]?.score ?? Infinity))).toBe(true);
    expect(index.best("temporal", "beach sea", { limit: 2 })).toHaveLength(2);
    expect(index.best("knowledge", "beach sea", { limit: 10 })).toEqual([]);
    expect(index.best("temporal", '"*" -', { limit: 10 })).toEqual([]);
  });

  it("ignore words that occur in too many rows if there are rarer ones, and otherwise take the newest", async () => {
    const { index } = await emptyIndex();
    const count = maxRankedRows + 10;
    apply(index, texts(...Array.from({ length: count }, (_, n) => (n === 5 ? "common rare" : "common"))));
    expect(index.best("temporal", "common rare", { limit: 10 }).map(({ row }) => row)).toEqual([6]);
    const newest = index.best("temporal", "common", { limit: count }).map(({ row }) => row);
    expect(newest).toHaveLength(maxRankedRows);
    expect(Math.min(...newest)).toBe(11);
  });

  it("are found for a text longer than any query", async () => {
    const { index } = await emptyIndex();
    apply(index, texts("w0", `w${maxBestWords}`));
    const long = Array.from({ length: 100_000 }, (_, n) => `w${n}`).join(" ");
    expect(index.best("temporal", long, { limit: 10 }).map(({ row }) => row)).toEqual([1]);
  });
});

describe("matching rows", () => {
  it("come from both ends, within a range of rows", async () => {
    const { index } = await emptyIndex();
    apply(index, texts("a b", "b a", "a", "A, b!", { x: "a", y: ["b"] }));
    const rows = (options: Omit<Parameters<TextIndex["matching"]>[2], "limit">, limit = 10): number[] =>
      index.matching("temporal", "a b", { ...options, limit });
    expect(rows({})).toEqual([5, 4, 2, 1]);
    expect(rows({}, 2)).toEqual([5, 4]);
    expect(rows({ beforeRow: 4 })).toEqual([2, 1]);
    expect(rows({ order: "oldest" }, 3)).toEqual([1, 2, 4]);
    expect(rows({ order: "oldest", afterRow: 2 })).toEqual([4, 5]);
    expect(index.count("temporal", "a b")).toBe(4);
    expect(index.count("temporal", "a b", { atMost: 3 })).toBe(3);
    expect(index.rows("temporal", "a b").split(",").toSorted()).toEqual(["1", "2", "4", "5"]);
    expect(index.count("temporal", "a")).toBe(5);
    expect(index.matching("temporal", "", { limit: 10 })).toEqual([]);
    expect(index.count("temporal", "?!")).toBe(0);
    expect(index.rows("temporal", "none")).toBe("");
  });

  it("are counted without those that were deleted", async () => {
    const { index } = await emptyIndex();
    apply(index, texts("a", "a", "a"));
    apply(index, [{ seq: 4, writtenMs: 0, operation: "delete", kind: "temporal", id: idOf(2), data: {} }]);
    expect(index.count("temporal", "a")).toBe(2);
    expect(index.matching("temporal", "a", { limit: 10 })).toEqual([3, 1]);
  });
});

describe("an item of knowledge", () => {
  const found = (index: TextIndex, words: string): number[] =>
    index.matching("knowledge", words, { limit: 10 });

  it("is found by its text, or by its data if it has none, also after a change", async () => {
    const { index } = await emptyIndex();
    apply(index, [
      knowledge(1, "store", 1, { variant: "Fact", data: { name: "Ada" } }),
      knowledge(2, "store", 2, { variant: "Fact", data: { name: "Grace" }, text: "a compiler" }),
    ]);
    expect([found(index, "ada"), found(index, "grace"), found(index, "compiler")]).toEqual([[1], [], [2]]);
    apply(index, [
      knowledge(3, "update", 1, { data: { name: "Byron" } }),
      knowledge(4, "update", 2, { data: { name: "Hopper" } }),
      knowledge(5, "update", 2, { importance: 1 }),
      knowledge(6, "update", 1, { relate: { to: idOf(2), relation: "RelatedTo" } }),
    ]);
    expect([
      found(index, "ada"),
      found(index, "byron"),
      found(index, "hopper"),
      found(index, "compiler"),
    ]).toEqual([[], [1], [], [2]]);
    apply(index, [knowledge(7, "update", 1, { text: "a poet" }), knowledge(8, "delete", 2, {})]);
    expect([found(index, "byron"), found(index, "poet"), found(index, "compiler")]).toEqual([[], [1], []]);
  });

  it("is gone when the record that last changed its text is redacted", async () => {
    const { index } = await emptyIndex();
    apply(index, [
      knowledge(1, "store", 1, { variant: "Fact", data: {}, text: "first" }),
      knowledge(2, "update", 1, { text: "second" }),
      redacting(3, [2, 2]),
    ]);
    expect([found(index, "first"), found(index, "second")]).toEqual([[], []]);
  });
});

describe("what is forgotten", () => {
  const bytesOf = (path: string): Buffer =>
    Buffer.concat(readdirSync(join(path, "..")).map((name) => readFileSync(join(path, "..", name))));

  it("is in no file any more: words, names of fields, ids", async () => {
    const { path, index } = await emptyIndex();
    apply(
      index,
      texts(...Array.from({ length: 500 }, (_, n) => ({ text: `ordinary words number${n}` })), {
        "quarz.uhr": "x",
        jodelfest: "zwiebelturm",
        text: "yetispuren",
      }),
    );
    const last = 501;
    expect(bytesOf(path).includes("zwiebelturm")).toBe(true);
    apply(index, [redacting(502, [last, last])]);
    expect(index.matching("temporal", "zwiebelturm", { limit: 1 })).toEqual([]);
    index.close();
    // Words without common beginnings; otherwise the index would store only their ends.
    const id = Buffer.from(idOf(last).replaceAll("-", ""), "hex");
    for (const gone of ["zwiebelturm", "yetispuren", "jodelfest", "quarz", id]) {
      expect(bytesOf(path).includes(gone), String(gone)).toBe(false);
    }
    expect(bytesOf(path).includes("ordinary")).toBe(true);
    const again = openTextIndex(path);
    expect(again.count("temporal", "ordinary")).toBe(500);
    again.close();
  });

  it("is removed from the log of a process that died before it could", async () => {
    const { path, index } = await emptyIndex();
    apply(index, texts({ text: "zwiebelturm" }, { text: "stays" }));
    const folder = await temporaryFolder();
    const crashed = join(folder, "text.sqlite");
    copyFileSync(path, crashed);
    copyFileSync(`${path}-wal`, `${crashed}-wal`);
    // The redaction's transaction, and no step beyond it.
    const dying = new DatabaseSync(crashed);
    dying.exec(
      "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA secure_delete = ON; BEGIN",
    );
    dying.exec(
      "DELETE FROM temporal WHERE rowid = 1; INSERT INTO temporal (temporal) VALUES ('optimize'); COMMIT",
    );
    const after = join(await temporaryFolder(), "text.sqlite");
    copyFileSync(crashed, after);
    copyFileSync(`${crashed}-wal`, `${after}-wal`);
    dying.close();
    expect(bytesOf(after).includes("zwiebelturm")).toBe(true);
    openTextIndex(after).close();
    expect(bytesOf(after).includes("zwiebelturm")).toBe(false);
    expect(bytesOf(after).includes("stays")).toBe(true);
  });
});

describe("the file", () => {
  it("keeps its rows and its watermark, which moves only with them", async () => {
    const { path, index } = await emptyIndex();
    expect(index.watermark).toEqual({ seq: 0, hash: "0".repeat(64) });
    apply(index, texts("a", "b"));
    expect(index.watermark).toEqual({ seq: 2, hash: "a".repeat(64) });
    const broken = {
      seq: 4,
      writtenMs: 0,
      operation: "redact",
      kind: "policy",
      id: "r",
      data: { seqs: 7 },
    } as unknown as JournalRecord;
    expect(() =>
      index.apply([...texts("x", "y", "c").slice(2), broken], { seq: 4, hash: "c".repeat(64) }),
    ).toThrow(storageError);
    expect(index.watermark.seq).toBe(2);
    expect(index.matching("temporal", "c", { limit: 1 })).toEqual([]);
    index.close();
    index.close();
    const again = openTextIndex(path);
    onTestFinished(() => again.close());
    expect(again.watermark).toEqual({ seq: 2, hash: "a".repeat(64) });
    expect(again.matching("temporal", "b", { limit: 1 })).toEqual([2]);
    apply(again, texts("x", "y", { f: "d" }).slice(2));
    expect(again.matching("temporal", "d", { field: "f", limit: 1 })).toEqual([3]);
  });

  it("gives a field a column again after the transaction that gave it one was rolled back", async () => {
    const { index } = await emptyIndex();
    const broken = {
      seq: 2,
      writtenMs: 0,
      operation: "redact",
      kind: "policy",
      id: "r",
      data: { seqs: 7 },
    } as unknown as JournalRecord;
    expect(() => index.apply([...texts({ f: "a" }), broken], { seq: 2, hash: "c".repeat(64) })).toThrow(
      storageError,
    );
    apply(index, texts({ g: "a" }, { f: "a" }));
    expect(index.matching("temporal", "a", { field: "f", limit: 9 })).toEqual([2]);
    expect(index.matching("temporal", "a", { field: "g", limit: 9 })).toEqual([1]);
  });

  it("is accepted as it was closed, and after a crash as SQLite finds it", async () => {
    const { path, index } = await emptyIndex();
    apply(index, texts("a"));
    const crashed = join(await temporaryFolder(), "text.sqlite");
    copyFileSync(path, crashed);
    copyFileSync(`${path}-wal`, `${crashed}-wal`);
    const left = openTextIndex(crashed);
    expect(left.matching("temporal", "a", { limit: 1 })).toEqual([1]);
    left.close();
    index.close();
    expect(() => verifyText(path)).not.toThrow();
  });

  it("is rejected with one flipped bit, wherever it is", async () => {
    const { path, index } = await emptyIndex();
    apply(index, texts(...Array.from({ length: 200 }, (_, n) => `word${n}`)));
    index.close();
    const size = statSync(path).size;
    for (const place of [0, 20, 100, 4096, size >> 1, size - 1]) {
      const folder = await temporaryFolder();
      const copy = join(folder, "text.sqlite");
      copyFileSync(path, copy);
      copyFileSync(`${path}.sum`, `${copy}.sum`);
      flipBit(copy, place);
      expect(() => openTextIndex(copy), String(place)).toThrow(storageError);
      removeText(copy);
      expect(readdirSync(folder)).toEqual([]);
      openTextIndex(copy).close();
    }
  });

  it.each([
    ["an empty file", ""],
    ["no database", "not a database ".repeat(1000)],
    ["another version", null],
  ])("is rejected if it is %s", async (_, content) => {
    const path = join(await temporaryFolder(), "text.sqlite");
    if (content === null) {
      openTextIndex(path).close();
      removeSeal(path);
      const database = new DatabaseSync(path);
      database.exec("PRAGMA user_version = 999");
      database.close();
    } else writeFileSync(path, content);
    expect(() => openTextIndex(path)).toThrow(storageError);
    expect(() => verifyText(path)).toThrow(storageError);
  });

  it("is rejected after a crash with a damaged index", async () => {
    const { path, index } = await emptyIndex();
    apply(index, texts(...Array.from({ length: 3000 }, (_, n) => `word${n} again`)));
    index.close();
    removeSeal(path);
    const database = new DatabaseSync(path, { defensive: false });
    database.exec("DELETE FROM temporal_data WHERE id = (SELECT max(id) FROM temporal_data)");
    database.close();
    expect(() => openTextIndex(path)).toThrow(storageError);
  });
});

const removeSeal = (path: string): void => rmSync(`${path}.sum`);

function flipBit(path: string, place: number): void {
  const byte = readFileSync(path)[place] ?? 0;
  const file = openSync(path, "r+");
  writeSync(file, Buffer.from([byte ^ 1]), 0, 1, place);
  closeSync(file);
}
