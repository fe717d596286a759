import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { ManualClock } from "../../base/testing/manual-clock.ts";
import { canonicalJson } from "../../base/json.ts";
import { sha256Hex } from "../../platform/files/hash.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { encodeRecord } from "../../journal/record.ts";
import { LaresError } from "../../base/errors.ts";
import { exportMemory } from "./export.ts";
import { describeExport, importMemory } from "./import.ts";
import { type ContainerFile, readContainer } from "./reader.ts";
import { type Part, assembleContainer, splitContainer, type Taken } from "./testing/forged.ts";
import { chainStart } from "../../memory-contract/records.ts";
import { aJournal, anEvent, aPolicy, aVector, pagesOf } from "./testing/journals.ts";

let folder = "";
const clock = new ManualClock();
const goodRecords = [anEvent(1), aPolicy, anEvent(2), anEvent(3)];

beforeEach(async () => void (folder = await temporaryFolder()));

/** An export with segments of every kind, two of them of the journal. */
async function anExport(records = goodRecords): Promise<Buffer> {
  const journalFolder = join(folder, "journal");
  const end = await aJournal(journalFolder, records);
  const path = join(folder, "good");
  const vectors = { embedder: "e", dimensions: 2, pages: pagesOf([aVector("a", [0.6, 0.8])]) };
  await exportMemory(
    { name: "extension/dev.lares.test", journalFolder, end, vectors },
    { path, overwrite: false, clock },
  );
  return await readFile(path);
}

const anchors: unknown[] = [];
async function importing(bytes: Uint8Array): Promise<unknown> {
  anchors.length = 0;
  const path = join(folder, "bad");
  await writeFile(path, bytes);
  return await importMemory(path, {
    memoryFolder: join(folder, "memory"),
    anchor: undefined,
    maxBytes: 1e9,
    storeAnchor: async (anchor) => void anchors.push(anchor),
  });
}

/** Expects a refusal with a sentence of the catalogue, and that nothing was imported or left behind. */
async function refused(bytes: Uint8Array, what: string, words?: RegExp): Promise<void> {
  const outcome = await importing(bytes).catch((error: unknown) => error);
  expect(outcome, what).toMatchObject({
    name: "LaresError",
    code: expect.stringMatching(/^(InvalidParams|StorageError|Conflict)$/),
    ...(words === undefined ? {} : { message: expect.stringMatching(words) }),
  });
  expect(anchors, what).toEqual([]);
  const left = await readdir(join(folder, "memory")).catch(() => []);
  expect(left, what).toEqual([]);
}

/** A container file in memory. */
const inMemory = (bytes: Buffer): ContainerFile => ({
  path: "/in/memory",
  size: bytes.length,
  readInto: async (buffer, position) => {
    buffer.set(bytes.subarray(position, position + buffer.byteLength));
    return Math.max(0, Math.min(buffer.byteLength, bytes.length - position));
  },
});

async function notRead(bytes: Buffer, what: string): Promise<void> {
  const outcome = await readContainer(inMemory(bytes)).catch((error: unknown) => error);
  expect(outcome, what).toBeInstanceOf(LaresError);
}

describe("damage to a file in transit", () => {
  test("a flipped bit at any position is detected", async () => {
    const good = await anExport([anEvent(1), aPolicy]);
    for (let at = 0; at < good.length; at++) {
      for (let bit = 0; bit < 8; bit++) {
        const bad = Buffer.from(good);
        bad[at] = (bad[at] ?? 0) ^ (1 << bit);
        const what = `bit ${bit} of byte ${at} of ${good.length}`;
        await notRead(bad, what);
        // Every byte once in a real file, too.
        if (bit === at % 8) await refused(bad, what);
      }
    }
    await importing(good);
  });

  test("a file cut anywhere is refused, and so is one with anything after its end", async () => {
    const good = await anExport();
    for (let size = 0; size < good.length; size++)
      await refused(good.subarray(0, size), `${size} bytes of it`);
    for (const more of ["\0", "\n", good.toString("latin1")])
      await refused(Buffer.concat([good, Buffer.from(more, "latin1")]), "more", /something follows its end/);
  });

  test("bytes changed, removed or inserted at random places are detected", async () => {
    const good = await anExport();
    await fc.assert(
      fc.asyncProperty(
        fc.nat(good.length - 1),
        fc.nat(40),
        fc.uint8Array({ maxLength: 40 }),
        async (at, removed, added) => {
          const bad = Buffer.concat([good.subarray(0, at), added, good.subarray(at + removed)]);
          fc.pre(!bad.equals(good));
          await refused(bad, `${removed} bytes at ${at} replaced by ${added.length}`);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("an export of a newer version is refused, and the error names both versions", async () => {
    const good = await anExport();
    for (const version of [2, 258, 0xffff_ffff]) {
      const bad = Buffer.from(good);
      bad.writeUInt32LE(version, 8);
      await refused(bad, `version ${version}`, new RegExp(`version ${version} .* up to version 1`));
    }
  });

  test("a wrong length is refused before anything is allocated for it", async () => {
    const good = await anExport();
    const before = process.memoryUsage().arrayBuffers;
    for (const length of [2n ** 64n - 1n, 2n ** 53n, 2n ** 40n, BigInt(good.length)]) {
      const bad = Buffer.from(good);
      bad.writeBigUInt64LE(length, 20);
      await refused(bad, `${length} bytes`, /the file ends before/);
    }
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024);
  });
});

const meta = (taken: Taken, change: object): Taken => {
  const [first, ...rest] = taken.parts;
  const said = JSON.parse(first?.content.toString() ?? "") as { head: object };
  const content = Buffer.from(canonicalJson({ ...said, ...change }));
  return { ...taken, parts: [{ kind: "META", content }, ...rest] };
};
const contents = (taken: Taken, kind: string, change: (content: Buffer, index: number) => Buffer): Taken => {
  let index = 0;
  return {
    ...taken,
    parts: taken.parts.map((part) =>
      part.kind === kind ? { kind, content: change(part.content, index++) } : part,
    ),
  };
};
const order = (taken: Taken, change: (parts: readonly Part[]) => readonly Part[]): Taken => ({
  ...taken,
  parts: change(taken.parts),
});

describe("forgeries with correct digests", () => {
  let taken: Taken = { preamble: Buffer.alloc(0), parts: [] };
  beforeEach(async () => void (taken = splitContainer(await anExport())));

  test("the tests' own reading of the format makes the same file", async () => {
    expect(assembleContainer(taken).equals(await readFile(join(folder, "good")))).toBe(true);
    expect(taken.parts.map(({ kind }) => kind)).toEqual([
      "META",
      "WITNESS",
      "WITNESS",
      "POLICY",
      "VEC",
      "END",
    ]);
  });

  test("segments swapped, duplicated, left out, of an unknown kind or empty", async () => {
    const [head, one, two, policy, vectors, end] = taken.parts;
    if (!head || !one || !two || !policy || !vectors || !end) throw new Error("parts are missing");
    const cases: Record<string, readonly Part[]> = {
      swapped: [head, two, one, policy, vectors, end],
      doubled: [head, one, one, two, policy, vectors, end],
      "without its first records": [head, two, policy, vectors, end],
      "without its last records": [head, one, policy, vectors, end],
      "without a journal": [head, policy, vectors, end],
      "without policy": [head, one, two, vectors, end],
      "policy twice": [head, one, two, policy, policy, vectors, end],
      "two of META": [head, head, one, two, policy, vectors, end],
      "without META": [one, two, policy, vectors, end],
      "META last": [one, two, policy, vectors, head, end],
      "END twice": [head, one, two, policy, vectors, end, end],
      "without END": [head, one, two, policy, vectors],
      unknown: [head, one, two, policy, vectors, { kind: "WASM", content: Buffer.from("x") }, end],
      empty: [head, one, two, { kind: "WITNESS", content: Buffer.alloc(0) }, policy, vectors, end],
      "a large END": [head, one, two, policy, vectors, { kind: "END", content: Buffer.alloc(33) }],
    };
    for (const [what, parts] of Object.entries(cases))
      await refused(assembleContainer(order(taken, () => parts)), what);
  });

  test("a wrong description: another head, another size, another form", async () => {
    const said = JSON.parse(taken.parts[0]?.content.toString() ?? "") as Record<string, object>;
    const head = said["head"] as { seq: number; hash: string; bytes: number };
    const changes: object[] = [
      { head: { ...head, seq: head.seq - 1 } },
      { head: { ...head, seq: head.seq + 1 } },
      { head: { ...head, hash: "a".repeat(64) } },
      { head: { ...head, hash: chainStart.hash } },
      { head: { ...head, bytes: head.bytes - 1 } },
      { head: { ...head, bytes: 2 ** 53 } },
      { head: { ...head, bytes: "1" } },
      { head: { ...head, more: 1 } },
      { head: null },
      { more: 1 },
      { from: "" },
      { from: "x".repeat(257) },
      { created: "yesterday" },
      { vectors: { embedder: "e", dimensions: 3 } },
      { vectors: { embedder: "e", dimensions: 1e9 } },
      { vectors: { embedder: "", dimensions: 2 } },
      { vectors: null },
    ];
    for (const change of changes)
      await refused(assembleContainer(meta(taken, change)), JSON.stringify(change));
    const first = (content: Buffer): Buffer => Buffer.concat([Buffer.from(" "), content]);
    await refused(assembleContainer(contents(taken, "META", first)), "written in another way");
    const large = (): Buffer => Buffer.from(JSON.stringify("x".repeat(5000)));
    await refused(assembleContainer(contents(taken, "META", large)), "too large", /5002 bytes/);
  });

  test("a record that was changed, left out or inserted", async () => {
    const change = (from: RegExp, to: string) =>
      assembleContainer(
        contents(taken, "WITNESS", (content) => Buffer.from(content.toString().replace(from, to))),
      );
    await refused(change(/beach/, "bench"), "changed", /chain in the file is broken at seq 1/);
    await refused(change(/.*\n/, ""), "left out");
    await refused(change(/.*\n/, "$&$&"), "twice");
  });

  test("a policy that is not in its journal", async () => {
    const forged = contents(taken, "POLICY", (content) =>
      Buffer.from(content.toString().replace("30", "31")),
    );
    await refused(assembleContainer(forged), "policy", /policy is not the one in its journal/);
  });

  test("vectors: not a number, another count, invalid ids", async () => {
    const page = taken.parts.find(({ kind }) => kind === "VEC")?.content ?? Buffer.alloc(0);
    const put = (at: number, value: Buffer): Buffer =>
      Buffer.concat([page.subarray(0, at), value, page.subarray(at + value.length)]);
    const u32 = (value: number): Buffer => Buffer.from(new Uint32Array([value]).buffer);
    const u16 = (value: number): Buffer => Buffer.from(new Uint16Array([value]).buffer);
    const cases: Record<string, Buffer> = {
      "not a number": put(page.length - 4, u32(0x7fc0_0000)),
      infinite: put(page.length - 8, u32(0xff80_0000)),
      "no vectors": put(0, u32(0)),
      "two vectors": put(0, u32(2)),
      "four thousand million": put(0, u32(0xffff_ffff)),
      "an empty id": put(4, u16(0)),
      "an id beyond the end": put(4, u16(0xffff)),
      "no text": put(6, Buffer.from([0xff])),
      shorter: page.subarray(0, -1),
      longer: Buffer.concat([page, Buffer.alloc(8)]),
      "two bytes": page.subarray(0, 2),
    };
    for (const [what, bad] of Object.entries(cases))
      await refused(assembleContainer(contents(taken, "VEC", () => bad)), what, /page of vectors/);
    const huge = contents(taken, "VEC", () => Buffer.alloc(4 * 1024 * 1024 + 1));
    await refused(assembleContainer(huge), "a page too large", /VEC segment has/);
  });

  /** A chain of handmade lines, with correct hashes and head. */
  function chained(lines: readonly string[]): Buffer {
    let end = chainStart;
    const written = lines.map((line) => {
      const [content = "", rest = ""] = line.split("|");
      const dataHash = sha256Hex(`${content}}`);
      const tail = rest
        .replace("DATA_HASH", dataHash)
        .replace("PREVIOUS", end.hash)
        .replace("SEQ", String(end.seq + 1));
      const hash = sha256Hex(`{${tail}`);
      end = { seq: end.seq + 1, hash };
      return `${content},"hash":"${hash}",${tail}\n`;
    });
    const text = Buffer.from(written.join(""), "latin1");
    const witness = { kind: "WITNESS", content: text };
    const [head, last] = [taken.parts[0], taken.parts.at(-1)];
    if (head === undefined || last === undefined) throw new Error("parts are missing");
    const alone = order(taken, () => [head, witness, last]);
    return assembleContainer(meta(alone, { head: { ...end, bytes: text.length }, vectors: null }));
  }
  const salt = "0".repeat(32);
  const tail = (
    more: { kind?: string; operation?: string; id?: string; timestamp?: string } = {},
  ): string => {
    const {
      kind = "temporal",
      operation = "store",
      id = '"a"',
      timestamp = "2026-11-20T10:00:00.000Z",
    } = more;
    return `"data_hash":"DATA_HASH","id":${id},"kind":"${kind}","operation":"${operation}","previous_hash":"PREVIOUS","seq":SEQ,"timestamp":"${timestamp}"}`;
  };
  const line = (data: string, more: Parameters<typeof tail>[0] = {}): string =>
    `{"data":${data},"salt":"${salt}"|${tail(more)}`;

  test("a complete forged chain is accepted as a memory, and only its head, which is shown, reveals it", async () => {
    const file = chained([line('{"a":1}'), line("[]", { kind: "knowledge" })]);
    const path = join(folder, "own");
    await writeFile(path, file);
    const { head } = await describeExport(path);
    expect(head).toMatch(/^[0-9a-f]{64}$/);
    expect(head).not.toBe(JSON.parse(taken.parts[0]?.content.toString() ?? "").head.hash);
    await importing(file);
    expect(anchors).toMatchObject([{ seq: 2, hash: head }]);
    // The chain that was made here equals the one that a kernel makes.
    const [made = ""] = (await readFile(join(folder, "memory/journal/000001.ndjson"), "utf8")).split("\n");
    const epochMs = Date.parse("2026-11-20T10:00:00.000Z");
    const input = { operation: "store", kind: "temporal", id: "a", data: '{"a":1}' } as const;
    expect(`${made}\n`).toBe(encodeRecord(input, chainStart, salt, epochMs).line);
    await rm(join(folder, "memory"), { recursive: true });
  });

  test.each([
    ["data that is no JSON", line("{oops}")],
    ["data that is two values", line('1,"extra":2')],
    ["a field twice", line('1,"data":2')],
    ["data that is not canonical", line('{"b":1,"a":2}')],
    ["a number without end", line("1e999")],
    ["bytes that are no text", line('"\xff"')],
    ["data nested without end", line("[".repeat(5000) + "]".repeat(5000))],
    ["an unknown kind", line("1", { kind: "root" })],
    ["an unknown operation", line("1", { operation: "drop" })],
    ["an id that is too long", line("1", { id: `"${"x".repeat(257)}"` })],
    ["an id that is a number", line("1", { id: "7" })],
    ["a day that is none", line("1", { timestamp: "2026-13-45T10:00:00.000Z" })],
    ["more than a record may have", line(`"${"x".repeat(1024 * 1024 + 5000)}"`)],
    ["a record that says it was redacted", `{"redacted":true,"salt":"${salt}"|${tail()}`],
  ])("a chain of one's own, right in every hash, with %s", async (what, bad) => {
    await refused(chained([line("1"), bad]), what);
  });
});
