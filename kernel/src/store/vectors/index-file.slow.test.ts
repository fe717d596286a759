import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { TestChild } from "../../platform/testing/child.ts";
import { Engines } from "./engines.ts";
import { savedIndex } from "./testing/saved-index.ts";
import type { EngineName } from "../../memory-contract/store-settings.ts";
import type { IndexWatermark, VectorIndex } from "./port.ts";
import { clusteredVectors } from "./testing/vectors.ts";

const engines = new Engines();
const watermark: IndexWatermark = { seq: 41, hash: "cd".repeat(32), embedder: "hash 16 1" };
const dimensions = 16;
const native: EngineName = "usearch";

async function indexOf(engine: EngineName, count: number, seed = 1): Promise<VectorIndex> {
  const index = await engines.createIndex({ engine, dimensions });
  const source = clusteredVectors(dimensions, seed, count);
  for (let label = 1; label <= count; label++) index.put(label, source());
  return index;
}

async function savedFolder(engine: EngineName = native, count = 600, seed = 1): Promise<string> {
  const folder = await temporaryFolder();
  using index = await indexOf(engine, count, seed);
  await index.save(folder, watermark);
  return folder;
}

/** Loads it, or returns why not. */
async function outcome(folder: string, engine: EngineName = native, size = dimensions): Promise<string> {
  const loaded = await engines.loadIndex(folder, { engine, dimensions: size });
  if (loaded.index === null) return loaded.reason;
  loaded.index[Symbol.dispose]();
  return "loaded";
}

async function changedManifest(
  folder: string,
  change: (file: Record<string, unknown>) => void,
): Promise<void> {
  const path = join(folder, "knowledge.json");
  const manifest = JSON.parse(await readFile(path, "utf8")) as { files: Record<string, unknown>[] };
  change(manifest.files[0]!);
  await writeFile(path, JSON.stringify(manifest));
}

test("an index is saved in two files, and the manifest describes them", async () => {
  const folder = await savedFolder();
  expect((await readdir(folder)).toSorted()).toEqual(["knowledge.json", "knowledge.usearch"]);
  expect(await savedIndex(folder)).toMatchObject({ engine: native, dimensions, count: 600, watermark });
  expect(await outcome(folder)).toBe("loaded");
  expect((await readdir(folder)).toSorted()).toEqual(["knowledge.json", "knowledge.usearch"]);
});

test.each<EngineName>(["exact", "usearch"])("%s: any flipped bit of the file is found", async (engine) => {
  const folder = await savedFolder(engine);
  const path = join(folder, `knowledge.${engine}`);
  const whole = await readFile(path);
  // Magic, length and text of the header, a label, rows, the last byte, and places between.
  const places = [
    0,
    9,
    11,
    40,
    400,
    2_000,
    ...Array.from({ length: 20 }, (_, at) => (whole.length * at) / 20),
  ];
  for (const place of [...places.map(Math.floor), whole.length - 1]) {
    const damaged = Buffer.from(whole);
    damaged[place]! ^= 1 << (place % 8);
    await writeFile(path, damaged);
    expect(await outcome(folder, engine), `byte ${place}`).not.toBe("loaded");
  }
  await writeFile(path, whole);
  expect(await outcome(folder, engine)).toBe("loaded");
});

test.each([0, 1, 11, 12, 300, 5_000, -1])("a file cut to %d bytes is rejected", async (bytes) => {
  const folder = await savedFolder();
  const path = join(folder, "knowledge.usearch");
  await truncate(path, bytes < 0 ? (await readFile(path)).length + bytes : bytes);
  expect(await outcome(folder)).toMatch(/cut short|not an index|not the one that its header says/);
});

test("a file that is too long is rejected", async () => {
  const folder = await savedFolder();
  await writeFile(join(folder, "knowledge.usearch"), "more", { flag: "a" });
  expect(await outcome(folder)).toMatch("Its length is not the one");
});

test("the manifest of another index, or its file, is rejected", async () => {
  const [one, other] = [await savedFolder(native, 600, 1), await savedFolder(native, 600, 2)];
  await writeFile(join(one, "knowledge.json"), await readFile(join(other, "knowledge.json")));
  expect(await outcome(one)).toMatch("checksum");
});

test.each<[string, (file: Record<string, unknown>) => void]>([
  ["a watermark that has seen more", (file) => (file["watermark"] = { ...watermark, seq: 42 })],
  ["another embedder", (file) => (file["watermark"] = { ...watermark, embedder: "onnx 16" })],
  ["another count", (file) => (file["count"] = 599)],
  ["a huge count", (file) => (file["count"] = 1e300)],
  ["a negative count", (file) => (file["count"] = -1)],
  ["huge dimensions", (file) => (file["dimensions"] = 2 ** 40)],
  ["another length", (file) => (file["bytes"] = 1)],
  ["no digest", (file) => delete file["sha256"]],
  ["a digest that is none", (file) => (file["sha256"] = "../../etc/passwd")],
  ["an engine that is none", (file) => (file["engine"] = "../exact")],
  ["a watermark that is none", (file) => (file["watermark"] = null)],
])("a manifest with %s is rejected", async (_, change) => {
  const folder = await savedFolder();
  await changedManifest(folder, change);
  expect(await outcome(folder)).not.toBe("loaded");
});

test.each([
  ["", "empty"],
  ["{", "no JSON"],
  ["null", "nothing"],
  ['{"format":2,"files":[]}', "of a later format"],
  ['{"format":1,"files":[null,[],7]}', "of other things"],
  ["x".repeat(100_000), "too long"],
])("a manifest that is %# (%s) is rejected, and replaced", async (text) => {
  const folder = await savedFolder();
  await writeFile(join(folder, "knowledge.json"), text);
  expect(await outcome(folder)).toMatch("no index of usearch");
  expect(await savedIndex(folder)).toBeNull();
  using index = await indexOf(native, 10);
  await index.save(folder, watermark);
  expect(await outcome(folder)).toBe("loaded");
});

/** An attacker who can write both files can make them agree; even then no number in them may lead outside. */
async function forge(folder: string, change: (header: Record<string, unknown>) => void): Promise<void> {
  const path = join(folder, "knowledge.usearch");
  const whole = await readFile(path);
  const headerBytes = whole.readUInt32LE(8);
  const header = JSON.parse(whole.subarray(12, 12 + headerBytes).toString()) as Record<string, unknown>;
  change(header);
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(json.length);
  const forged = Buffer.concat([whole.subarray(0, 8), length, json, whole.subarray(12 + headerBytes)]);
  await writeFile(path, forged);
  await changedManifest(folder, (file) => {
    for (const name of ["count", "dimensions", "watermark", "engineVersion"]) file[name] = header[name];
    file["bytes"] = forged.length;
    file["sha256"] = createHash("sha256").update(forged).digest("hex");
  });
}

test.each<[string, (header: Record<string, unknown>) => void]>([
  ["more rows than there are bytes", (header) => (header["rows"] = 8_000_000)],
  ["a number of rows that overflows", (header) => (header["rows"] = Number.MAX_SAFE_INTEGER)],
  ["fewer rows, the rest as graph", (header) => ((header["rows"] = 1), (header["graphSize"] = 1))],
  ["a graph without bytes", (header) => (header["graphBytes"] = 0)],
  ["a graph of more than there are rows", (header) => (header["graphSize"] = 601)],
  ["a graph of fewer than it has", (header) => (header["graphSize"] = 255)],
  ["another count than labels", (header) => (header["count"] = 599)],
  ["other numbers", (header) => (header["precision"] = "f32")],
  ["numbers of no precision", (header) => (header["precision"] = "f8")],
  ["another version of the engine", (header) => (header["engineVersion"] = "2.25.3")],
])("a forged file with %s, checksum and all, is not used", async (_, change) => {
  const folder = await savedFolder();
  await forge(folder, change);
  expect(await outcome(folder)).not.toBe("loaded");
});

test("a forgery that changes nothing loads: the forgeries above fail for what they forge", async () => {
  const folder = await savedFolder();
  await forge(folder, () => undefined);
  expect(await outcome(folder)).toBe("loaded");
});

test("an index of other dimensions or of another engine is not used", async () => {
  const folder = await savedFolder();
  expect(await outcome(folder, native, 17)).toMatch("16 dimensions");
  expect(await outcome(folder, "exact")).toMatch("no index of exact");
  await rename(join(folder, "knowledge.usearch"), join(folder, "knowledge.exact"));
  await changedManifest(folder, (file) => (file["engine"] = "exact"));
  expect(await outcome(folder, "exact")).toMatch("made by usearch");
});

test("saving another engine's index takes the first one's place", async () => {
  const folder = await savedFolder("usearch");
  using index = await indexOf("exact", 20);
  await index.save(folder, { ...watermark, seq: 50 });
  expect((await readdir(folder)).toSorted()).toEqual(["knowledge.exact", "knowledge.json"]);
  expect(await savedIndex(folder)).toMatchObject({ engine: "exact", count: 20 });
  expect(await outcome(folder, "exact")).toBe("loaded");
});

test("nothing there, or a folder or link in the file's place, gives a reason and not an error", async () => {
  const empty = await temporaryFolder();
  expect(await outcome(empty)).toMatch("no index");
  expect(await outcome(join(empty, "missing"))).toMatch("ENOENT");
  const folder = await savedFolder();
  const path = join(folder, "knowledge.usearch");
  await rename(path, join(folder, "elsewhere"));
  expect(await outcome(folder)).toMatch("ENOENT");
  await symlink(join(folder, "elsewhere"), path);
  expect(await outcome(folder)).toMatch("is not a regular file");
  await rm(path);
  await mkdir(path);
  expect(await outcome(folder)).toMatch("is not a regular file");
});

test("a failed save is a StorageError, and leaves the index and no temporary file", async () => {
  const folder = await temporaryFolder();
  await mkdir(join(folder, "knowledge.usearch"));
  using index = await indexOf(native, 600);
  await expect(index.save(folder, watermark)).rejects.toMatchObject({ code: "StorageError" });
  await expect(index.save(join(folder, "missing"), watermark)).rejects.toMatchObject({
    code: "StorageError",
  });
  expect((await readdir(folder)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  expect(index.search(index.vectorOf(3)!, 1)[0]?.label).toBe(3);
});

const modules = {
  "{ Engines }": new URL("./engines.ts", import.meta.url),
  "{ clusteredVectors }": new URL("./testing/vectors.ts", import.meta.url),
};

test.each([
  // The file, the manifest that names both, and the one that names the new: each is created, written, …
  "atomic-file.synced@1",
  "atomic-file.renamed@1",
  "atomic-file.created@2",
  "atomic-file.renamed@2",
  "atomic-file.folder-synced@2",
  "atomic-file.created@3",
  "atomic-file.renamed@3",
] as const)("a death at %s while saving leaves the old index or the new one, usable", async (failpoint) => {
  const folder = await savedFolder();
  const child = new TestChild(
    `const index = await new Engines().createIndex({ engine: "usearch", dimensions: 16 });
     const source = clusteredVectors(16, 2, 700);
     for (let label = 1; label <= 700; label++) index.put(label, source());
     await index.save(${JSON.stringify(folder)}, { seq: 99, hash: "ef", embedder: "hash 16 1" });`,
    { modules, failpoint },
  );
  expect(await child.ended()).toBe("SIGKILL");
  const loaded = await engines.loadIndex(folder, { engine: native, dimensions });
  expect(loaded.index === null ? loaded.reason : loaded.index.size).toBeOneOf([600, 700]);
  if (loaded.index === null) return;
  expect(loaded.watermark.seq).toBe(loaded.index.size === 700 ? 99 : 41);
  expect((await readdir(folder)).filter((name) => name.endsWith(".tmp"))).toEqual([]);
});

test("a file whose opening killed the process is not opened again, until another is saved", async () => {
  const folder = await savedFolder();
  // Proven bytes that are not a graph: the library may crash or not, and the marker exists either way.
  await forge(folder, () => undefined);
  const path = join(folder, "knowledge.usearch");
  const sha256 = createHash("sha256")
    .update(await readFile(path))
    .digest("hex");
  await writeFile(join(folder, "knowledge.opening"), sha256);
  expect(await outcome(folder)).toMatch("process died");
  expect(await outcome(folder)).toMatch("process died");
  using index = await indexOf(native, 600, 3);
  await index.save(folder, watermark);
  expect(await outcome(folder)).toBe("loaded");
});

test("garbage with a correct checksum kills at most one process", async () => {
  const folder = await savedFolder();
  const path = join(folder, "knowledge.usearch");
  const whole = await readFile(path);
  const header = JSON.parse(whole.subarray(12, 12 + whole.readUInt32LE(8)).toString()) as {
    graphBytes: number;
  };
  // Random bytes behind the library's own magic word: as similar to a graph as rubbish can be.
  for (let at = whole.length - header.graphBytes + 64; at < whole.length; at++) whole[at] = (at * 131) % 251;
  await writeFile(path, whole);
  await forge(folder, () => undefined);
  const open = `const loaded = await new Engines().loadIndex(${JSON.stringify(folder)}, { engine: "usearch", dimensions: 16 });
    if (loaded.index !== null) loaded.index.search(new Float32Array(16).fill(1), 10);
    say(loaded.index === null ? loaded.reason : "loaded");`;
  const first = new TestChild(open, { modules });
  const firstEnd = await first.ended().catch(String);
  const survived = firstEnd === "exit 0";
  expect(existsSync(join(folder, "knowledge.opening"))).toBe(!survived);
  const second = new TestChild(open, { modules });
  expect(await second.ended()).toBe("exit 0");
  expect(second.lines[0]).toMatch(survived ? first.lines[0]! : "process died");
});
