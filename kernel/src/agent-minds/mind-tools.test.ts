import {
  mkdirSync,
  openSync,
  closeSync,
  ftruncateSync,
  symlinkSync,
  writeFileSync,
  readFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Action } from "../base/vocabulary/action.ts";
import { personAt } from "../base/vocabulary/principal.ts";
import type { ListResult } from "../file-tools/list-files.ts";
import type { ReadResult } from "../file-tools/read-file.ts";
import type { SearchResult } from "../file-tools/search-files.ts";
import { helper, mind, MindBed, worker } from "./testing/mind-bed.ts";

const allowAll = [{ decide: "allow" as const, effects: ["*"], paths: ["**"] }];
const rtl = "notes/\u202Egnp.exe.txt";
const long = `notes/${"l".repeat(200)}.txt`;

function prepare(write: (name: string, content?: string) => void, root: string): void {
  write("notes/plan.md", "# Plan\r\nbuy Milk\r\nsell milk\r\n");
  write("notes/a%2Fb.txt", "percent milk\n");
  write(rtl, "right to left milk\n");
  write(long, "long name milk\n");
  write("notes/[x]{y}*.txt", "odd\n");
  write("notes/empty.txt", "");
  write("notes/latin.txt");
  writeFileSync(join(root, "notes/latin.txt"), Buffer.from("caf\xe9 milk\n", "latin1"));
  write("notes/binary.dat", "MZ\0\0milk");
  write("secret/key.txt", "secret milk\n");
  write("ignored/log.txt", "ignored milk\n");
  write(".gitignore", "ignored/\n");
  write("AGENTS.md", "Be kind.\n");
  write("team/.hidden", "hidden milk\n");
  write("team/open.txt", "open milk\n");
  write("state/ledger.txt", "state milk\n");
  mkdirSync(join(root, "..", "outside"));
  writeFileSync(join(root, "..", "outside", "x.txt"), "outside milk\n");
  symlinkSync(join(root, "..", "outside"), join(root, "way-out"));
  symlinkSync(join(root, "..", "outside", "x.txt"), join(root, "notes/link.txt"));
  const huge = openSync(join(root, "huge.bin"), "w");
  ftruncateSync(huge, 100 * 1024 * 1024);
  closeSync(huge);
}

let bed: MindBed;
beforeAll(async () => {
  bed = await MindBed.open(prepare);
});
afterAll(() => bed[Symbol.asyncDispose]());

const read = (args: unknown): Promise<ReadResult> => bed.value("files/read", args);
const list = (args: unknown): Promise<ListResult> => bed.value("files/list", args);
const search = (args: unknown): Promise<SearchResult> => bed.value("files/search", args);

async function messageOf(name: string, args: unknown): Promise<string> {
  const result = await bed.call(name, args);
  return result.status === "error" ? result.message : result.status;
}

describe("files/read", () => {
  test("keeps line ends, and reads by lines", async () => {
    expect(await read({ path: "notes/plan.md" })).toMatchObject({
      path: "notes/plan.md",
      text: "# Plan\r\nbuy Milk\r\nsell milk\r\n",
      first_line: 1,
      last_line: 3,
    });
    const part = await read({ path: "./notes//plan.md", offset: 2, length: 1 });
    expect(part).toMatchObject({ text: "buy Milk\r\n", first_line: 2, last_line: 2 });
    expect(part.note).toMatch(/lines 2 to 2 of a file of \d+ bytes. Continue with offset 3\./);
  });

  test("reports an empty file, one that is not text, and bytes that are not UTF-8", async () => {
    expect(await read({ path: "notes/empty.txt" })).toMatchObject({ text: "", note: "The file is empty." });
    expect((await read({ path: "notes/latin.txt" })).note).toMatch(/U\+FFFD/);
    expect(await read({ path: "notes/binary.dat" })).not.toHaveProperty("text");
    expect((await read({ path: "huge.bin" })).note).toBe(
      "It is not text: 104,857,600 bytes, media type application/octet-stream.",
    );
  });

  test("reads files with odd names", async () => {
    for (const path of ["notes/a%2Fb.txt", rtl, long, "notes/[x]{y}*.txt"])
      expect((await read({ path })).path).toBe(path);
    expect(await messageOf("files/read", { path: "notes/a/b.txt" })).toMatch(/There is no file/);
  });

  test.each([
    [{ path: "notes/plam.md" }, 'There is no file "notes/plam.md". Did you mean "notes/plan.md"?'],
    [{ path: "plan.md" }, 'There is no file "plan.md". Did you mean "notes/plan.md"?'],
    [{ path: "notes" }, '"notes" is a folder. Use files/list.'],
    [{ path: "notes/plan.md", offset: 9 }, '"notes/plan.md" has 3 lines; offset is 9.'],
    [
      { path: "notes/plan.md", offset: 0 },
      "files/read: arguments.offset is 0; it must be >= 1 (The first line; lines count from 1).",
    ],
    [
      { path: "notes/plan.md", lines: 3 },
      /a field "lines" that is not known; known are: path, offset, length/,
    ],
    [{ path: "notes/a\nb" }, /control character/],
    [null, /path/],
  ])("%j is refused with words that help: %s", async (args, message) => {
    const result = await bed.call("files/read", args);
    expect(result).toMatchObject({ status: "error", recoverable: true });
    expect(result.status === "error" && result.message).toEqual(
      typeof message === "string" ? message : expect.stringMatching(message),
    );
  });
});

describe("a process is refused what the guest of its agent is refused, in the same words", () => {
  const paths = [
    "secret/key.txt",
    ".git/config",
    "state/ledger.txt",
    "../outside/x.txt",
    "/etc/passwd",
    "C:/x",
    "notes/link.txt",
    "notes/..",
    "a\\b",
  ];
  beforeAll(() => bed.grant({ locations: ["notes", "team"] }));
  afterAll(() => bed.grant({}));

  /** Processes are told which tool is the right one for the kernel's state. */
  const withoutHint = (message: string): string =>
    message.replace(/ The kernel keeps its state there\. .*$/, "");

  test.each(paths)("reading %s", async (path) => {
    const guest = await bed.asGuest("vdfs/read", { path });
    expect(guest).not.toBe("allowed");
    expect(withoutHint(await messageOf("files/read", { path }))).toBe(guest);
  });

  test.each([...paths, "way-out/new.txt"])("writing %s", async (path) => {
    const proposal = { effects: [{ kind: "file.write", path, content: "x" }], title: "t", reason: "r" };
    const guest = await bed.asGuest("actions/propose", proposal);
    expect(guest).not.toBe("allowed");
    expect(withoutHint(await messageOf("files/write", { path, content: "x" }))).toBe(guest);
  });

  test("every refusal is in the traces of the agent", async () => {
    bed.traces.length = 0;
    await bed.call("files/read", { path: "secret/key.txt" });
    expect(bed.traces).toEqual([expect.stringMatching(/^refused: .*secret/)]);
  });
});

describe("what a process may not see does not exist for it", () => {
  test("the filter of read_entries holds in lists, searches and reads", async () => {
    await bed.grant({ effective: { read_entries: { filter: "*.md" }, propose_actions: ["*"] } });
    expect((await list({ glob: "**" })).entries.map(({ path }) => path)).toEqual([
      "AGENTS.md",
      "notes/plan.md",
    ]);
    expect((await search({ text: "milk" })).files).toEqual(["notes/plan.md"]);
    expect(await messageOf("files/read", { path: "notes/latin.txt" })).toMatch(/does not pass the filter/);
    expect(
      await messageOf("files/edit", { path: "notes/latin.txt", edits: [{ find: "a", replace: "b" }] }),
    ).toMatch(/may not read/);
    await bed.grant({});
  });

  test("files that the index excludes, links and the state folder are not found", async () => {
    const { entries } = await list({ glob: "**", limit: 1000 });
    const found = entries.map(({ path }) => path);
    expect(found.filter((path) => /ignored\/|hidden|way-out|link|state/.test(path))).toEqual([]);
    expect(
      (await search({ text: "milk", limit: 500 })).files.filter((path) => !found.includes(path)),
    ).toEqual([]);
    for (const path of ["ignored/log.txt", "team/.hidden"])
      expect(await messageOf("files/read", { path })).toMatch(/There is no file/);
  });

  test("without read_entries nothing is read, and without propose_actions nothing is proposed", async () => {
    await bed.grant({ effective: {} });
    for (const [name, args] of [
      ["files/read", { path: "notes/plan.md" }],
      ["files/list", {}],
      ["files/search", { text: "milk" }],
      ["files/write", { path: "x.txt", content: "" }],
    ] as const)
      expect(await bed.call(name, args)).toMatchObject({ status: "error", recoverable: false });
    await bed.grant({});
  });

  test("an agent in the chain bounds what the process may do", async () => {
    const lineage = { onBehalfOf: [{ kind: "agent" as const, id: "dev.test.nobody" }], depth: 1 };
    const result = await bed.tools.call(
      "files/read",
      { path: "notes/plan.md" },
      { ...worker, lineage },
      {
        offered: ["files/read"],
        key: "chain",
        signal: new AbortController().signal,
      },
    );
    expect(result).toMatchObject({ status: "error", message: expect.stringMatching(/dev\.test\.nobody/) });
  });
});

describe("files/list", () => {
  test("lists a folder with sizes, sorted, and says how many more there are", async () => {
    const { entries } = await list({ path: "team" });
    expect(entries).toEqual([{ path: "team/open.txt", kind: "file", size: 10 }]);
    const top = await list({ limit: 2 });
    expect(top.entries).toEqual([
      { path: "AGENTS.md", kind: "file", size: 9 },
      { path: "huge.bin", kind: "file", size: 104_857_600 },
    ]);
    expect(top.note).toMatch(/^3 more are not listed\./);
    expect((await list({})).entries.slice(2)).toEqual(
      ["notes", "secret", "team"].map((path) => ({ path, kind: "folder" })),
    );
  });

  test.each([
    [{ path: "note" }, 'There is no file or folder "note". Did you mean "notes"?'],
    [{ path: "notes/plan.md" }, '"notes/plan.md" is a file. Use files/read.'],
    [{ glob: "{a" }, /opens a "\{"/],
    [{ path: "/x" }, /is absolute/],
    [{ path: `${"d/".repeat(600)}x`, glob: "*" }, /at most 1024/],
  ])("%j is refused: %s", async (args, message) => {
    expect(await messageOf("files/list", args)).toEqual(
      typeof message === "string" ? message : expect.stringMatching(message),
    );
  });
});

test("several root folders are listed by their names, as far as something is seen in them", async () => {
  const prepareRoots = (write: (name: string) => void, root: string): void => {
    for (const name of ["one/a.txt", "two/b/c.txt", "four/.hidden"]) write(name);
    mkdirSync(join(root, "three"));
  };
  await using several = await MindBed.open(prepareRoots, ["one", "two", "three", "four"]);
  const listed = async (args: unknown): Promise<string[]> =>
    (await several.value<ListResult>("files/list", args)).entries.map(({ path }) => path);
  expect(await listed({})).toEqual(["one", "two"]);
  expect(await listed({ path: "two" })).toEqual(["two/b"]);
  expect(await listed({ path: "three" })).toEqual([]);
  expect((await several.value<SearchResult>("files/search", { text: "c.txt" })).files).toEqual([
    "two/b/c.txt",
  ]);
  expect((await several.value<SearchResult>("files/search", { text: "x", path: "three" })).files).toEqual([]);
});

describe("files/search", () => {
  test("ignores case unless the text has a capital, and names path and line", async () => {
    expect((await search({ text: "milk", path: "notes/plan.md" })).matches).toEqual([
      "notes/plan.md:2: buy Milk",
      "notes/plan.md:3: sell milk",
    ]);
    expect((await search({ text: "Milk" })).matches).toEqual(["notes/plan.md:2: buy Milk"]);
  });

  test("shows invisible characters of a name as marks, and gives the name itself", async () => {
    const found = await search({ text: "right to left" });
    expect(found).toEqual({
      matches: ['"notes/<U+202E>gnp.exe.txt":1: right to left milk'],
      files: [rtl],
    });
  });

  test("says where it looked in vain, and how to get more", async () => {
    expect((await search({ text: "nowhere", path: "team" })).note).toBe("Not found in 1 text files.");
    expect((await search({ text: "milk", limit: 1 })).note).toMatch(/There are more than these 1 lines/);
    expect(await messageOf("files/search", { text: "a\nb" })).toMatch(/without line breaks/);
    expect(await messageOf("files/search", { text: "x", path: "nots" })).toMatch(/Did you mean "notes"/);
  });

  test("race: cancelled in the middle, it ends with the signal's reason", async () => {
    const aborter = new AbortController();
    const reason = new Error("cancelled");
    bed.onCall = (method) => {
      if (method === "vdfs/read") aborter.abort(reason);
    };
    const before = bed.calls.length;
    await expect(bed.call("files/search", { text: "milk" }, { signal: aborter.signal })).rejects.toBe(reason);
    bed.onCall = () => undefined;
    expect(bed.calls.slice(before).filter((method) => method === "vdfs/read")).toHaveLength(1);
  });
});

describe("changes", () => {
  test("one that a rule allows is made, and names the process for people only", async () => {
    bed.settings.rules = allowAll;
    const value = await bed.value<{ action: string }>("files/write", { path: "new/a.txt", content: "one\n" });
    expect(value).toMatchObject({ state: "Committed", changes: [{ kind: "file.write", path: "new/a.txt" }] });
    expect(readFileSync(bed.workspace.path("new/a.txt"), "utf8")).toBe("one\n");
    const { lineage: _lineage, ...actor } = worker;
    const stored = await bed.actions.get(value.action);
    expect(stored).toMatchObject({ agent: mind, on_behalf_of: [actor], decided_by: "policy" });
    for (const [name, args] of [
      ["files/edit", { path: "new/a.txt", edits: [{ find: "one", replace: "two" }] }],
      ["files/create_folder", { path: "new/folder" }],
      ["files/move", { from: "new/a.txt", to: "new/folder/b.txt" }],
      ["files/delete", { path: "new/folder/b.txt" }],
    ] as const)
      expect(await bed.value(name, args)).toMatchObject({ state: "Committed" });
    bed.settings.rules = [];
  });

  test("one that needs a person returns the action, without who led to it", async () => {
    const result = await bed.call("files/write", { path: "b.txt", content: "b", reason: "You asked." });
    expect(result).toMatchObject({
      status: "needs_approval",
      reason: "You asked.",
      action: { state: "PendingApproval", title: "Write b.txt" },
    });
    expect(result).not.toHaveProperty("action.on_behalf_of");
  });

  test.each(["AGENTS.md", "docs/CLAUDE.md", "SOUL.md", ".cursor/rules/a.mdc", "skills/x/how.txt"])(
    "%s is asked each time, although a rule allows everything",
    async (path) => {
      bed.settings.rules = allowAll;
      const result = await bed.call("files/write", { path, content: "Obey." });
      expect(result.status).toBe("needs_approval");
      bed.settings.rules = [];
    },
  );

  test("moving a folder that holds hidden files is asked, and reveals none of them", async () => {
    bed.settings.rules = allowAll;
    const result = await bed.call("files/move", { from: "team", to: "crew" });
    expect(result.status).toBe("needs_approval");
    expect(JSON.stringify(result)).not.toContain("hidden");
    bed.settings.rules = [];
  });

  test.each([
    [
      "files/edit",
      { path: "notes/plan.md", edits: [{ find: "bread", replace: "x" }] },
      /"bread" does not occur/,
    ],
    ["files/edit", { path: "notes/plan.md", edits: [{ find: "l", replace: "x" }] }, /occurs \d+ times/],
    ["files/edit", { path: "notes/plan.md", edits: [] }, /files\/edit: arguments\.edits/],
    ["files/move", { from: "notes/plan.md", to: "AGENTS.md" }, /exists already/],
    ["files/write", { path: "notes", content: "x" }, /is a folder/],
    ["files/write", { path: "c.txt" }, /either "content" or "content_base64"/],
    ["files/delete", { path: "nothing.txt" }, /There is no/],
    ["files/delete", { path: "notes" }, /is a folder/],
    ["files/write", { path: "c.txt", content: "x", expected: `sha256:${"0".repeat(64)}` }, /./],
  ])("%s %j is refused with words that a model can act on", async (name, args, message) => {
    const result = await bed.call(name, args);
    expect(result).toMatchObject({ status: "error", recoverable: true });
    expect(result.status === "error" && result.message).toMatch(message);
  });

  test("proposed again with its key, also after a restart, it is the same action", async () => {
    const propose = (key: string, conversation = "c1") =>
      bed.tools.call(
        "files/write",
        { path: "keyed.txt", content: key },
        { ...worker, conversation },
        {
          offered: ["files/write"],
          key,
          signal: new AbortController().signal,
        },
      );
    const idOf = async (asked: ReturnType<typeof propose>): Promise<string> =>
      ((await asked) as { action: Action }).action.id;
    const first = await idOf(propose("one"));
    expect(await idOf(propose("one"))).toBe(first);
    const other = await idOf(propose("one", "c2"));
    expect(other).not.toBe(first);
    await bed.restart();
    expect(await idOf(propose("one", "c2"))).toBe(other);
    const stored = await bed.actions.get(other);
    await bed.actions.approve(personAt(), other, { digest: stored?.digest ?? "sha256:" });
    expect(await propose("one", "c2")).toMatchObject({ status: "success", value: { action: other } });
    await bed.actions.undo(personAt(), other);
    expect(await propose("one", "c2")).toMatchObject({ status: "error", message: /a person has undone it/ });
  });

  test("race: cancelled once it has begun, it is finished and answered", async () => {
    bed.settings.rules = allowAll;
    const aborter = new AbortController();
    bed.onCall = (method) => method === "actions/propose" && aborter.abort(new Error("cancelled"));
    const result = await bed.call(
      "files/write",
      { path: "late.txt", content: "x" },
      { signal: aborter.signal },
    );
    bed.onCall = () => undefined;
    expect(result).toMatchObject({ status: "success" });
    bed.settings.rules = [];
  });
});

describe("tools of agents", () => {
  test("patterns choose the tools, sorted; a worker gets those that its mind may use", () => {
    const names = (...patterns: string[][]): string[] =>
      bed.tools.toolsFor(patterns[0] ?? [], patterns[1]).map(({ name }) => name);
    expect(names([`${helper}/*`])).toEqual([`${helper}/count`, `${helper}/erase`, `${helper}/make_note`]);
    expect(names(["files/*"])).toHaveLength(8);
    expect(names(["files/read", `${helper}/count`, "files"])).toEqual([`${helper}/count`, "files/read"]);
    expect(names(["files/*"], ["files/read", `${helper}/*`])).toEqual(["files/read"]);
    expect(names(["*", "file*/*"])).toEqual([]);
  });

  test("one is called as the process, with progress, and needs the permission of the agent", async () => {
    bed.behaviour = async (_method, params, guest) => {
      await guest.handlers.call("tools/progress", { call_id: params["call_id"], fraction: 0.5 });
      return { status: "success", value: params["caller"] };
    };
    const reports: number[] = [];
    const result = await bed.call(`${helper}/count`, undefined, {
      progress: ({ fraction }) => void reports.push(fraction),
    });
    expect(result).toEqual({ status: "success", value: "model" });
    expect(reports).toEqual([0.5]);
    expect(await bed.call(`${helper}/erase`, {})).toMatchObject({
      status: "error",
      message: expect.stringMatching(/may use call_tools, but not for/),
      recoverable: false,
    });
    expect(await messageOf(`${helper}/count`, { n: "x" })).toMatch(/\/n must be integer/);
  });

  test("a named action is called as one, and proposes its effects for the process", async () => {
    const asked: unknown[] = [];
    bed.behaviour = (method, params) => {
      asked.push([method, params["name"], params["parameters"]]);
      return {
        effects: [{ kind: "file.write", path: "notes/made.md", content: "A note.\n" }],
        reason: "It was asked for.",
      };
    };
    const value = await bed.value<{ action: string; state: string }>(`${helper}/make_note`, {
      name: "tides",
    });
    expect(asked).toEqual([["action", "makeNote", { name: "tides" }]]);
    expect(value.state).toBe("PendingApproval");
    const action = await bed.actions.get(value.action);
    expect(action).toMatchObject({
      agent: helper,
      title: "Make the note tides",
      reason: "It was asked for.",
      on_behalf_of: [expect.objectContaining({ kind: "process", conversation: "c1" })],
    });
    await bed.actions.reject(personAt(), value.action);
    expect(await messageOf(`${helper}/make_note`, {})).toMatch(/must have required property "name"/);
  });

  test("a named action of a helper does not change what the mind may not change", async () => {
    bed.behaviour = () => ({
      effects: [{ kind: "file.write", path: "state/ledger.txt", content: "x" }],
      reason: "r",
    });
    const before = bed.actions.pendingCount();
    expect(await messageOf(`${helper}/make_note`, { name: "x" })).toMatch(/state\/ledger\.txt/);
    expect(bed.actions.pendingCount()).toBe(before);
  });

  test("a repeated call gets the first outcome, and one of another conversation runs", async () => {
    let count = 0;
    bed.behaviour = () => ({ status: "success", value: (count += 1) });
    const call = (conversation: string) =>
      bed.tools.call(
        `${helper}/count`,
        { n: 1 },
        { ...worker, conversation },
        {
          offered: [`${helper}/count`],
          key: "call_0",
          signal: new AbortController().signal,
        },
      );
    expect(await call("x")).toEqual({ status: "success", value: 1 });
    expect(await call("x")).toEqual({ status: "success", value: 1 });
    expect(await call("y")).toEqual({ status: "success", value: 2 });
    await bed.restart();
    expect(await call("x")).toEqual({ status: "success", value: 1 });
  });

  test("a tool that the process was not offered is refused before anything runs", async () => {
    const before = bed.calls.length;
    for (const [name, message] of [
      ["files/delete", /There is no tool "files\/delete"/],
      ["files/rea", /did you mean "files\/read"/],
      [`${helper}/count`, /There is no tool/],
    ] as const) {
      const result = await bed.call(name, {}, { offered: ["files/read"] });
      expect(result).toMatchObject({ status: "error", message: expect.stringMatching(message) });
    }
    expect(bed.calls).toHaveLength(before);
  });

  test("the tools of a suspended agent's mind are refused", async () => {
    const supervisor = bed.supervisor(mind);
    await bed.asGuest("vdfs/query", {});
    await supervisor.control(personAt(), "suspend");
    expect(await messageOf("files/list", {})).toMatch(/cannot act: Suspended by a person/);
    await supervisor.control(personAt(), "resume");
    expect(await messageOf("files/list", {})).toBe("success");
  });

  test("an agent that is not there is an error and no crash", async () => {
    const result = await bed.tools.call(
      "files/list",
      {},
      { ...worker, agent: "dev.test.gone" },
      {
        offered: ["files/list"],
        key: "gone",
        signal: new AbortController().signal,
      },
    );
    expect(result).toMatchObject({ status: "error", message: expect.stringMatching(/dev\.test\.gone/) });
  });
});
