import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { neverAborted } from "../base/abort.ts";
import { LaresError, notFound } from "../base/errors.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import type { Action } from "../base/vocabulary/action.ts";
import type { Entry } from "../base/vocabulary/entry.ts";
import { ownAccord } from "../base/vocabulary/principal.ts";
import { fileToolBounds as bounds } from "./bounds.ts";
import { fileTools } from "./definitions.ts";
import { FileTools } from "./file-tools.ts";
import { LineMatcher } from "./matches.ts";
import type { FileAccess, ShownFile } from "./ports.ts";

const entryOf = (path: string, bytes: Uint8Array): Entry => ({
  id: path,
  path,
  name: path,
  kind: "file",
  media: "text",
  extension: "txt",
  mime: "text/plain",
  size: bytes.length,
  created: "",
  modified: "",
  content_id: null,
  tags: [],
  fields: {},
  sidecars: [],
  location: ".",
});

/** The tools over files in memory; a read returns at most `piece` bytes. */
function toolsOver(
  texts: Readonly<Record<string, string | Uint8Array>>,
  { piece = bounds.pieceBytes, ...change }: Partial<FileAccess> & { readonly piece?: number } = {},
) {
  const clock = new ManualClock();
  const contents = new Map(
    Object.entries(texts).map(([path, text]) => [path, typeof text === "string" ? Buffer.from(text) : text]),
  );
  const entries = [...contents].map(([path, bytes]) => entryOf(path, bytes));
  const access: FileAccess = {
    roots: [],
    get: async (path) => entries.find((entry) => entry.path === path) ?? null,
    query: async ({ limit = 100, cursor = "" }) => {
      const after = entries.filter(({ path }) => path > cursor);
      const items = after.slice(0, limit);
      return after.length > limit ? { items, cursor: items.at(-1)?.path ?? "" } : { items };
    },
    count: async () => entries.length,
    read: async (path, offset, length) => {
      const bytes = contents.get(path);
      if (bytes === undefined) throw notFound("file", path);
      const end = offset + Math.min(length, piece);
      return { bytes: bytes.subarray(offset, end), eof: end >= bytes.length };
    },
    propose: async () => {
      throw new LaresError("InternalError", "Nothing is proposed here.");
    },
    settled: async () => {
      throw new LaresError("InternalError", "Nothing is proposed here.");
    },
    ...change,
  };
  const tools = new FileTools({
    accessOf: () => access,
    check: () => undefined,
    sum: () => {
      const sum = createHash("sha256");
      return {
        add: (bytes) => void sum.update(bytes),
        hash: () => `sha256:${sum.copy().digest("hex")}`,
      };
    },
    ownTextsOf: () => ({ sources: [], state: [] }),
    clock,
  });
  const worker = {
    kind: "process",
    process: "worker",
    agent: "dev.test.mind",
    conversation: "c",
    lineage: ownAccord,
  } as const;
  const shown: ShownFile[] = [];
  const show = (file: ShownFile): void => void shown.push(file);
  const call = (name: string, args: unknown) =>
    tools.call(name, args, worker, { key: "k", signal: neverAborted, show });
  const value = async (name: string, args: unknown): Promise<Record<string, unknown>> => {
    const result = await call(name, args);
    if (result.status !== "success") throw new Error(JSON.stringify(result));
    return result.value as Record<string, unknown>;
  };
  return { clock, call, value, shown };
}

const lines = fc.array(fc.constantFrom("", "a", "Ä", "a\r", "€uro", "𝒳"), { maxLength: 12 });

test("any lines of any file are read exactly, whatever the pieces in which it is read", async () => {
  await fc.assert(
    fc.asyncProperty(
      lines,
      fc.boolean(),
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 1, max: 9 }),
      async (given, endsLine, offset, length, piece) => {
        const text = given.join("\n") + (endsLine ? "\n" : "");
        const all = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
        const { call } = toolsOver({ "a.txt": text }, { piece });
        const result = await call("files/read", { path: "a.txt", offset, length });
        const wanted = all.slice(offset - 1, offset - 1 + length);
        if (wanted.length === 0) {
          expect(result.status).toBe(all.length === 0 ? "success" : "error");
          return;
        }
        const last = offset + wanted.length - 1;
        expect(result).toMatchObject({
          status: "success",
          value: { text: wanted.join(""), first_line: offset, last_line: last },
        });
        const note = (result as { value: { note?: string } }).value.note;
        expect(note !== undefined).toBe(last < all.length);
      },
    ),
    { seed: 1, numRuns: 400 },
  );
});

describe("files/read is bounded", () => {
  test("to 2,000 lines, unless more are asked for", async () => {
    const { value } = toolsOver({ "a.txt": "x\n".repeat(2500) });
    expect(await value("files/read", { path: "a.txt" })).toMatchObject({
      last_line: 2000,
      note: expect.stringMatching(/Continue with offset 2001\./),
    });
    expect(await value("files/read", { path: "a.txt", length: 10_000 })).toMatchObject({ last_line: 2500 });
  });

  test("to 64 KiB of whole lines", async () => {
    const line = `${"ü".repeat(499)}\n`;
    const { value } = toolsOver({ "a.txt": line.repeat(100) });
    const { text, last_line: last } = await value("files/read", { path: "a.txt" });
    expect(text).toBe(line.repeat(65));
    expect(last).toBe(65);
  });

  test("in a line that is longer than that, which is cut and said to be", async () => {
    const { value } = toolsOver({ "a.txt": `${"€".repeat(40_000)}\nsecond` });
    const { text, note } = await value("files/read", { path: "a.txt" });
    expect(text).toBe("€".repeat(Math.floor((64 * 1024) / 3)));
    expect(note).toMatch(/Line 1 is longer than 64 KiB.*Continue with offset 2\./);
  });

  test("in how far it looks for a line", async () => {
    const { call } = toolsOver({ "a.txt": "x".repeat(bounds.lookBytes + 10) });
    expect(await call("files/read", { path: "a.txt", offset: 2 })).toMatchObject({
      status: "error",
      message: expect.stringMatching(/lies beyond its first 32 MiB/),
    });
  });

  test("in the JSON of its result", async () => {
    const { call } = toolsOver({ "a.txt": "\u0001".repeat(60_000) });
    expect(await call("files/read", { path: "a.txt" })).toMatchObject({
      status: "error",
      message: expect.stringMatching(/at most 262144 are returned/),
    });
  });
});

describe("the matches in a text", () => {
  test("are those of its lines, whatever the pieces in which it is read", () => {
    const word = fc.array(fc.constantFrom("a", "b", "A", "ß", "İ", " "), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("a", "b", "A", "B", "ß", "İ", "\n", "\r\n", " "), { maxLength: 40 }),
        word,
        fc.array(fc.nat(20), { maxLength: 4 }),
        (letters, wanted, cuts) => {
          const [text, needle] = [letters.join(""), wanted.join("")];
          const isExact = needle !== needle.toLowerCase();
          const expected = text.split("\n").flatMap((line, at) => {
            return (isExact ? line : line.toLowerCase()).includes(needle) ? [at + 1] : [];
          });
          const matcher = new LineMatcher(needle);
          const found: number[] = [];
          let from = 0;
          for (const cut of cuts) {
            found.push(...matcher.take(text.slice(from, from + cut), false).map(({ line }) => line));
            from = Math.min(text.length, from + cut);
          }
          found.push(...matcher.take(text.slice(from), true).map(({ line }) => line));
          expect(found).toEqual(expected);
        },
      ),
      { seed: 1, numRuns: 2000 },
    );
  });

  test("are found where a very long line is read in pieces, once for the line", () => {
    const matcher = new LineMatcher("needle");
    const half = "x".repeat(bounds.openLineCharacters);
    const found = [
      ...matcher.take(`first\n${half}nee`, false),
      ...matcher.take(`dle${half}`, false),
      ...matcher.take(`needle\nneedle`, true),
    ];
    expect(found.map(({ line }) => line)).toEqual([2, 3]);
    expect(found[0]?.text).toContain("needle");
    expect(found[0]?.text.length).toBeLessThanOrEqual(bounds.lineCharacters + 2);
  });
});

function fail(error: Error): never {
  throw error;
}

describe("files/search is bounded", () => {
  test("in files", async () => {
    const names = Array.from(
      { length: bounds.searchFiles + 2 },
      (_, at) => `f${String(at).padStart(5, "0")}`,
    );
    const { value } = toolsOver(Object.fromEntries(names.map((name) => [name, "text"])));
    expect(await value("files/search", { text: "absent" })).toEqual({
      matches: [],
      files: [],
      note: 'The search stopped after 5000 files: "f05000" and the files after it were not searched. Search in a folder beneath.',
    });
  });

  test("in bytes of a file, and of all", async () => {
    const big = "x".repeat(bounds.searchFileBytes);
    const names = Array.from({ length: 17 }, (_, at) => `f${String(at).padStart(2, "0")}`);
    const { value } = toolsOver(Object.fromEntries(names.map((name) => [name, `${big}\nneedle`])));
    const { matches, note } = await value("files/search", { text: "needle" });
    expect(matches).toEqual([]);
    expect(note).toMatch(/stopped after 64 MiB: "f16".*first 4 MiB of 16 larger files/);
  });

  test("in time", async () => {
    const { clock, value } = toolsOver(
      { a: "text", b: "text" },
      {
        read: async () => {
          clock.advance(bounds.searchMs);
          return { bytes: Buffer.from("text"), eof: true };
        },
      },
    );
    expect((await value("files/search", { text: "absent" })).note).toMatch(/stopped after 20 seconds: "b"/);
  });

  test("in the size of its result", async () => {
    const name = "n".repeat(4000);
    const { value } = toolsOver({ [name]: "needle\n".repeat(500) });
    const { matches, note } = await value("files/search", { text: "needle", limit: 500 });
    expect((matches as string[]).length).toBeLessThan(60);
    expect(note).toMatch(/There are more than these/);
  });

  test("a file that is gone meanwhile is skipped, and a revoked permission ends it", async () => {
    const failing = (error: LaresError) =>
      toolsOver({ a: "needle" }, { read: async () => fail(error) }).call("files/search", {
        text: "needle",
      });
    expect(await failing(notFound("file", "a"))).toMatchObject({
      value: { note: "1 files could not be read. Not found in 1 text files." },
    });
    expect(await failing(new LaresError("PermissionDenied", "It was revoked."))).toEqual({
      status: "error",
      message: "It was revoked.",
      recoverable: false,
    });
  });
});

describe("what a process is told about its action", () => {
  const action = { id: "a1", title: "Write a", reason: "r", effects: [] as unknown[] } as Action;
  const told = (change: Partial<Action>) =>
    toolsOver(
      {},
      {
        propose: async () => ({ ...action, ...change }),
        settled: async () => ({ ...action, state: "Committed" }),
      },
    ).call("files/write", { path: "a", content: "x" });

  test.each<[Partial<Action>, RegExp]>([
    [{ state: "Rejected", error: "A rule denies it." }, /A rule denies it\. The action a1 is Rejected\./],
    [{ state: "Rejected", rejected_reason: "Not now" }, /The person rejected it: Not now/],
    [{ state: "Stale", error: "It changed." }, /It changed\. The action a1 is Stale\./],
    [{ state: "Failed" }, /Nothing was changed\. The action a1 is Failed\./],
    [{ state: "Expired" }, /Expired/],
    [{ state: "Undone" }, /a person has undone it/],
  ])("%j is an error", async (change, message) => {
    expect(await told(change)).toMatchObject({
      status: "error",
      message: expect.stringMatching(message),
      recoverable: true,
    });
  });

  test("one that is being committed is awaited", async () => {
    expect(await told({ state: "Committing" })).toMatchObject({ status: "success", value: { action: "a1" } });
  });

  test("long differences are left out of one that waits", async () => {
    const effect = { kind: "file.write", path: "a", before: null, after: null, summary: "s" } as const;
    const result = await told({
      state: "PendingApproval",
      effects: [{ ...effect, diff: "x".repeat(250_000) }],
    });
    expect(result).toMatchObject({ status: "needs_approval", action: { effects: [effect] } });
    expect(JSON.stringify(result).length).toBeLessThan(1000);
  });
});

test("the tools have closed schemas in plain JSON, sorted names, and the fields of their effects", () => {
  expect(fileTools.map(({ name }) => name)).toEqual(fileTools.map(({ name }) => name).toSorted());
  const fields = Object.fromEntries(
    fileTools.map(({ name, parameters }) => {
      expect(parameters).toMatchObject({ type: "object", additionalProperties: false });
      return [name, [Object.keys(parameters["properties"] as object), parameters["required"]]];
    }),
  );
  expect(fields).toEqual({
    "files/create_folder": [["path", "reason"], ["path"]],
    "files/delete": [["path", "expected", "reason"], ["path"]],
    "files/edit": [
      ["path", "edits", "expected", "reason"],
      ["path", "edits"],
    ],
    "files/list": [["path", "glob", "limit"], []],
    "files/move": [
      ["from", "to", "reason"],
      ["from", "to"],
    ],
    "files/read": [["path", "offset", "length"], ["path"]],
    "files/search": [["text", "path", "limit"], ["text"]],
    "files/write": [["path", "content", "expected", "content_base64", "reason"], ["path"]],
  });
  const edit = JSON.stringify(fileTools.find(({ name }) => name === "files/edit")?.parameters);
  expect(edit).toContain("Replaces every occurrence, of which there must be at least one");
});

describe("every file that an outcome tells something of is shown", () => {
  const hashOf = (text: string) => `sha256:${createHash("sha256").update(text).digest("hex")}`;
  const long = `${"a\n".repeat(bounds.pieceBytes)}b\n`;

  test("in the hint of an error", async () => {
    const { call, shown } = toolsOver({ "downloads/IGNORE.md": "x" });
    expect(await call("files/read", { path: "IGNORE.md" })).toMatchObject({
      message: expect.stringContaining("downloads/IGNORE.md"),
    });
    expect(shown).toEqual([{ path: "downloads/IGNORE.md" }]);
  });

  test("in the note of a search that stops early", async () => {
    const { call, shown, clock } = toolsOver(
      { "a.txt": "x", "b.txt": "x" },
      {
        read: async () => {
          clock.advance(bounds.searchMs);
          return { bytes: Buffer.from("y"), eof: true };
        },
      },
    );
    const result = await call("files/search", { text: "z" });
    expect(JSON.stringify(result)).toContain("b.txt");
    expect(shown).toEqual([{ path: "b.txt", listed: null }]);
  });

  test("by the names of a list, and the lines of a search", async () => {
    const { call, shown } = toolsOver({ "a.txt": "x", "b.txt": "y" });
    await call("files/search", { text: "x" });
    expect(shown.splice(0)).toEqual([{ path: "a.txt", listed: null }]);
    await call("files/list", {});
    expect(shown).toEqual([
      { path: "a.txt", listed: null },
      { path: "b.txt", listed: null },
    ]);
  });

  test("by the refusal of a change, and by one that could not be made", async () => {
    const refused = toolsOver(
      {},
      {
        propose: async () => {
          throw new LaresError("InvalidParams", '"downloads/IGNORE" is in the way.', {
            path: "downloads/IGNORE",
          });
        },
      },
    );
    await refused.call("files/move", { from: "a", to: "b" });
    expect(refused.shown).toEqual([{ path: "downloads/IGNORE" }]);
    const action = { id: "1", state: "Failed", effects: [{ path: "b", from: "a" }] } as unknown as Action;
    const failed = toolsOver({}, { propose: async () => action });
    await failed.call("files/move", { from: "a", to: "b" });
    expect(failed.shown).toEqual([{ path: "a" }, { path: "b" }]);
  });

  test("by a change of what was there before, whose size is told", async () => {
    const write = { kind: "file.write", path: "a", summary: "", after: "sha256:1" };
    const made = async (effect: object): Promise<readonly ShownFile[]> => {
      const action = { id: "1", state: "Committed", effects: [effect] } as unknown as Action;
      const { call, shown } = toolsOver({}, { propose: async () => action });
      await call("files/write", { path: "a", content: "x" });
      return shown;
    };
    expect(await made({ ...write, before: "sha256:0" })).toEqual([{ path: "a", read: "sha256:0" }]);
    expect(await made({ ...write, before: null })).toEqual([]);
  });

  test("with the hash of the bytes that were read, whatever the index knows by then", async () => {
    const [one, other] = ["one\n", "other\n"];
    const { call, shown } = toolsOver(
      { "a.txt": one },
      { get: async (path) => ({ ...entryOf(path, Buffer.from(other)), content_id: hashOf(other) as never }) },
    );
    expect(await call("files/read", { path: "a.txt" })).toMatchObject({
      value: { text: one, hash: hashOf(one) },
    });
    expect(shown).toEqual([{ path: "a.txt", read: hashOf(one) }]);
  });

  test("also if only its first lines were wanted, or none is that far", async () => {
    const { call, shown } = toolsOver({ "a.txt": long });
    await call("files/read", { path: "a.txt", length: 1 });
    // Read in several pieces, which may be of several contents.
    const both = [
      { path: "a.txt", read: hashOf(long) },
      { path: "a.txt", listed: null },
    ];
    expect(shown.splice(0)).toEqual(both);
    expect(await call("files/read", { path: "a.txt", offset: 10_000_000 })).toMatchObject({
      status: "error",
    });
    expect(shown).toEqual(both);
  });

  test("by its path alone if it is too long to be read on", async () => {
    const { call, shown } = toolsOver({ "a.txt": "a\n".repeat(bounds.readOnBytes) });
    await call("files/read", { path: "a.txt", length: 1 });
    expect(shown).toEqual([{ path: "a.txt", listed: null }]);
  });
});
