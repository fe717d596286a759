import { chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { ManualClock } from "../../base/testing/manual-clock.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import type { Anchor } from "../../journal/anchor.ts";
import { verifyJournal } from "../../journal/verify.ts";
import { chainStart } from "../../memory-contract/records.ts";
import { exportMemory, type ExportSource } from "./export.ts";
import { describeExport, importMemory, type ImportTarget } from "./import.ts";
import { aJournal, anEvent, aPolicy, aVector, openJournal, pagesOf } from "./testing/journals.ts";
import type { VectorItem } from "./vectors.ts";
import { memoryRecords } from "../records/kinds.ts";
import type { RecordMarks } from "../records/marks.ts";

const clock = new ManualClock();
let folder = "";
let end: Anchor = { ...chainStart, size: 0, carriedOut: 0 };
const records = [anEvent(1), aPolicy, anEvent(2), anEvent(3), anEvent(4)];

beforeEach(async () => {
  folder = await temporaryFolder();
  end = await aJournal(join(folder, "journal"), records);
});

const source = (more: Partial<ExportSource> = {}): ExportSource => ({
  name: "extension/dev.lares.test",
  journalFolder: join(folder, "journal"),
  end,
  ...more,
});
const exportTo = (path: string, more: Partial<ExportSource> = {}, overwrite = false) =>
  exportMemory(source(more), { path, overwrite, clock });

interface Target extends ImportTarget {
  readonly anchors: Anchor[];
}
function target(name = "other", more: Partial<ImportTarget> = {}): Target {
  const anchors: Anchor[] = [];
  return {
    memoryFolder: join(folder, name),
    anchor: undefined,
    maxBytes: 1e9,
    storeAnchor: async (anchor) => void anchors.push(anchor),
    anchors,
    ...more,
  };
}
const file = () => join(folder, "memory.lares");
const journalOf = async (name: string) =>
  Promise.all((await readdir(name)).toSorted().map((entry) => readFile(join(name, entry), "utf8")));

test("race: an export that is cancelled while it writes leaves no file and replaces none", async () => {
  const aborter = new AbortController();
  await exportTo(file());
  const before = await readFile(file());
  const pages = async function* (): AsyncGenerator<readonly VectorItem[]> {
    yield [aVector("one", [1, 0, 0, 0])];
    aborter.abort(new Error("enough"));
    yield [aVector("two", [0, 1, 0, 0])];
  };
  const vectors = { embedder: "test", dimensions: 4, pages: pages() };
  const exporting = exportMemory(source({ vectors }), {
    path: file(),
    overwrite: true,
    clock,
    signal: aborter.signal,
  });
  await expect(exporting).rejects.toThrow("enough");
  expect(await readFile(file())).toEqual(before);
  expect((await readdir(folder)).toSorted()).toEqual(["journal", "memory.lares"]);
});

describe("there and back", () => {
  test("the journal arrives byte for byte, proven and anchored; the file describes its content", async () => {
    const exported = await exportTo(file());
    const bytes = (await stat(file())).size;
    expect(exported).toEqual({ path: file(), records: 5, head: end.hash, bytes, vectors: 0 });
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    const described = {
      from: "extension/dev.lares.test",
      created: "2026-01-01T00:00:00.000Z",
      records: 5,
      head: end.hash,
      first: expect.stringMatching(/^20.*Z$/),
      last: expect.stringMatching(/^20.*Z$/),
      bytes: end.size,
      vectors: 0,
    };
    expect(await describeExport(file())).toMatchObject({ ...described, created: expect.any(String) });
    const into = target();
    expect(await importMemory(file(), into)).toMatchObject({ ...described, created: expect.any(String) });
    expect(into.anchors).toEqual([end]);
    expect(await readdir(join(folder, "other"))).toEqual(["journal"]);
    expect(await journalOf(join(folder, "other/journal"))).toEqual(
      (await journalOf(join(folder, "journal"))).filter((text) => text !== ""),
    );
    expect(await verifyJournal(join(folder, "other/journal"), end, memoryRecords)).toMatchObject({
      ok: true,
      records: 5,
    });
  });

  test("the marks of its records are known before the memory is there, and no others", async () => {
    const marked = (id: string, foreign: string) => ({
      ...anEvent(1),
      id,
      data: `{"foreign":${foreign},"n":1}`,
    });
    const plan = { operation: "update", kind: "working", id: "working" } as const;
    const data = `{"foreign":{"plan":"all"},"revision":1,"state":1}`;
    end = await aJournal(join(folder, "marked"), [
      anEvent(9),
      marked("event-1", '{"web":"minds"}'),
      marked("event-2", '{"web":"minds"}'),
      marked("event-3", '"anything"'),
      { ...plan, data },
    ]);
    await exportTo(file(), { journalFolder: join(folder, "marked") });
    const found: unknown[] = [];
    const storeMarks = async (marks: RecordMarks): Promise<void> => {
      found.push(...marks.shared(), marks.of("plan"), await readdir(join(folder, "other")));
    };
    await importMemory(file(), target("other", { storeMarks }));
    expect(found).toEqual([
      { items: ["event-1", "event-2"], foreign: { web: "minds" } },
      { items: ["event-3"], foreign: { "a shared memory": "all" } },
      { plan: "all" },
      ["importing"],
    ]);
  });

  test("an imported memory continues where the other one was, and can be exported again", async () => {
    await exportTo(file());
    await importMemory(file(), target());
    const there = join(folder, "other/journal");
    let reached = end;
    {
      await using journal = await openJournal(there, end, (anchor) => (reached = anchor));
      await journal.append([anEvent(5)]);
    }
    expect(reached.seq).toBe(6);
    const again = await exportTo(join(folder, "again"), { journalFolder: there, end: reached });
    expect(again).toMatchObject({ records: 6, head: reached.hash });
  });

  test("records written during an export are left out: the file ends at its head", async () => {
    await using journal = await openJournal(join(folder, "journal"), end);
    const exporting = exportTo(file());
    for (let n = 0; n < 40; n++) await journal.append([anEvent(n)]);
    expect(await exporting).toMatchObject({ records: 5, head: end.hash });
    expect(await describeExport(file())).toMatchObject({ records: 5, head: end.hash });
  });

  test("vectors are included, over several pages; invalid ones are left out", async () => {
    const wide = Array.from({ length: 4000 }, (_, index) => index / 4000);
    const many = Array.from({ length: 600 }, (_, index) => aVector(`item-${index}`, wide));
    const good = [...many, aVector("é", wide)];
    const bad = [
      aVector("short", [1]),
      aVector("", wide),
      aVector("nan", wide.toSpliced(7, 1, NaN)),
      aVector("infinite", wide.toSpliced(0, 1, -Infinity)),
      aVector("x".repeat(513), wide),
    ];
    const vectors = {
      embedder: "hash-4000",
      dimensions: 4000,
      pages: pagesOf(good.slice(0, 100), bad, [], good.slice(100)),
    };
    expect(await exportTo(file(), { vectors })).toMatchObject({ vectors: good.length });
    const pages: (readonly VectorItem[])[] = [];
    let said: unknown;
    const into = target("other", {
      async takeVectors(meta, from) {
        said = meta;
        for await (const page of from) pages.push(page);
      },
    });
    expect(await importMemory(file(), into)).toMatchObject({ vectors: good.length });
    expect(said).toEqual({ embedder: "hash-4000", dimensions: 4000 });
    expect(pages.length).toBeGreaterThan(1);
    expect(pages.flat()).toEqual(good);
  });
});

describe("export", () => {
  const leftBehind = async () => (await readdir(folder)).filter((name) => name !== "journal");

  test("an empty memory is NotFound", async () => {
    const nothing = { end: { ...chainStart, size: 0, carriedOut: 0 } };
    await expect(exportTo(file(), nothing)).rejects.toMatchObject({ code: "NotFound" });
    expect(await leftBehind()).toEqual([]);
  });

  test("an existing file is not replaced without overwrite", async () => {
    await writeFile(file(), "mine");
    await chmod(file(), 0o644);
    await expect(exportTo(file())).rejects.toMatchObject({
      code: "Conflict",
      message: expect.stringContaining("--force") as string,
    });
    expect(await readFile(file(), "utf8")).toBe("mine");
    expect(await leftBehind()).toEqual(["memory.lares"]);
    await exportTo(file(), {}, true);
    expect((await describeExport(file())).records).toBe(5);
    expect((await stat(file())).mode & 0o777).toBe(0o600);
  });

  test("race: a file that is created during the export is not replaced", async () => {
    const vectors = {
      embedder: "e",
      dimensions: 1,
      pages: (async function* () {
        await writeFile(file(), "mine");
        yield [];
      })(),
    };
    await expect(exportTo(file(), { vectors })).rejects.toMatchObject({ code: "Conflict" });
    expect(await readFile(file(), "utf8")).toBe("mine");
    expect(await leftBehind()).toEqual(["memory.lares"]);
  });

  test.each(["not/absolute", "./here", "", "/tmp/a\0b"])("%j is not an absolute path", async (path) => {
    await expect(exportTo(path, {}, true)).rejects.toMatchObject({ code: "InvalidParams" });
  });

  test("a folder, a link, a device, a missing folder: refused with a clear message, even with overwrite", async () => {
    await writeFile(join(folder, "real"), "real");
    await symlink(join(folder, "real"), join(folder, "link"));
    await symlink(join(folder, "nowhere"), join(folder, "dangling"));
    const before = await leftBehind();
    for (const path of [
      folder,
      join(folder, "link"),
      join(folder, "dangling"),
      "/dev/null",
      join(folder, "no/such"),
      join(folder, "real/x"),
    ])
      await expect(exportTo(path, {}, true), path).rejects.toMatchObject({ code: "InvalidParams" });
    expect(await readFile(join(folder, "real"), "utf8")).toBe("real");
    expect(await leftBehind()).toEqual(before);
  });

  test("a damaged, shorter or different journal is not exported, and nothing is left behind", async () => {
    const [first = ""] = (await readdir(join(folder, "journal"))).toSorted();
    const path = join(folder, "journal", first);
    const good = await readFile(path, "utf8");
    for (const bad of [good.replace("beach", "bench"), good.slice(0, -9), good.slice(1)]) {
      await writeFile(path, bad);
      await expect(exportTo(file())).rejects.toMatchObject({ code: "StorageError" });
    }
    await writeFile(path, good);
    const wrong = { end: { ...end, hash: "f".repeat(64) } };
    await expect(exportTo(file(), wrong)).rejects.toMatchObject({ code: "StorageError" });
    expect(await leftBehind()).toEqual([]);
  });

  test("an error while vectors are read fails the export, and nothing is left behind", async () => {
    const pages = (async function* () {
      yield [aVector("a", [1])];
      throw new Error("the store host died");
    })();
    const failing = exportTo(file(), { vectors: { embedder: "e", dimensions: 1, pages } });
    await expect(failing).rejects.toThrow("the store host died");
    expect(await leftBehind()).toEqual([]);
  });
});

describe("import", () => {
  beforeEach(() => exportTo(file()));

  test("a memory that is not empty is not changed", async () => {
    const other = await aJournal(join(folder, "other/journal"), [anEvent(9)]);
    const into = target("other", { anchor: other });
    await expect(importMemory(file(), into)).rejects.toMatchObject({ code: "Conflict" });
    expect(into.anchors).toEqual([]);
    expect(await verifyJournal(join(folder, "other/journal"), other, memoryRecords)).toMatchObject({
      ok: true,
    });
  });

  test("a memory that was opened and never written to is empty", async () => {
    await aJournal(join(folder, "other/journal"), []);
    await importMemory(file(), target());
    expect(await verifyJournal(join(folder, "other/journal"), end, memoryRecords)).toMatchObject({
      ok: true,
      records: 5,
    });
  });

  test("a lost journal is restored from an export that reaches its anchor, and not from an older one", async () => {
    await importMemory(file(), target("restored", { anchor: end }));
    const older = await aJournal(join(folder, "older"), records.slice(0, 2));
    const short = join(folder, "short");
    await exportMemory(source({ journalFolder: join(folder, "older"), end: older }), {
      path: short,
      overwrite: false,
      clock,
    });
    const into = target("lost", { anchor: end });
    await expect(importMemory(short, into)).rejects.toMatchObject({ code: "Conflict", facts: { seq: 5 } });
    // As many records, but of another memory.
    await expect(
      importMemory(file(), target("lost", { anchor: { ...end, hash: "a".repeat(64) } })),
    ).rejects.toMatchObject({ code: "Conflict" });
    expect(await readdir(join(folder, "lost"))).toEqual([]);
  });

  test("an import over the quota is LimitExceeded before anything is written", async () => {
    const into = target("other", { maxBytes: end.size - 1 });
    await expect(importMemory(file(), into)).rejects.toMatchObject({
      code: "LimitExceeded",
      facts: { limit: "max_storage_mb", value: end.size },
    });
    await expect(readdir(join(folder, "other"))).rejects.toThrow("ENOENT");
    await importMemory(file(), target("other", { maxBytes: end.size }));
  });

  test("a head other than the confirmed one is DigestMismatch", async () => {
    const expectedHead = "b".repeat(64);
    const mismatch = { code: "DigestMismatch", facts: { head: end.hash, expected: expectedHead } };
    await expect(importMemory(file(), target("other", { expectedHead }))).rejects.toMatchObject(mismatch);
    await expect(describeExport(file(), expectedHead)).rejects.toMatchObject(mismatch);
    await expect(readdir(join(folder, "other"))).rejects.toThrow("ENOENT");
    await importMemory(file(), target("other", { expectedHead: end.hash }));
  });

  test("the remains of a dead import are removed and are not taken for a memory", async () => {
    await mkdir(join(folder, "other/importing/deep"), { recursive: true });
    await writeFile(join(folder, "other/importing/000001.ndjson"), "half");
    await importMemory(file(), target());
    expect(await readdir(join(folder, "other"))).toEqual(["journal"]);
  });

  test("a link to an export is followed; a folder, a device, a missing file and another file are refused", async () => {
    await symlink(file(), join(folder, "link"));
    expect(await describeExport(join(folder, "link"))).toMatchObject({ records: 5 });
    await writeFile(join(folder, "empty"), "");
    await writeFile(join(folder, "text"), "Dear diary, ".repeat(100));
    for (const name of [
      folder,
      "/dev/zero",
      join(folder, "nothing"),
      join(folder, "empty"),
      join(folder, "text"),
    ])
      await expect(describeExport(name), name).rejects.toMatchObject({ code: "InvalidParams" });
    await expect(describeExport("relative")).rejects.toMatchObject({ code: "InvalidParams" });
  });
});
