import { describe, expect, test } from "vitest";
import { neverAborted } from "../base/abort.ts";
import { silentLog } from "../base/log.ts";
import type { Action, Effect } from "../base/vocabulary/action.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import { type Actor, ownAccord, type ProcessPrincipal } from "../base/vocabulary/principal.ts";
import { conversationMigrations } from "../conversations/migrations.ts";
import { type TaintedContent, TaintedContents, type TaintMarks } from "../conversations/tainted-contents.ts";
import type { ShownFile } from "../file-tools/ports.ts";
import { openNearDatabase } from "../platform/testing/near-database.ts";
import { matcherOf } from "../policy/path-matcher.ts";
import { foldPath } from "../policy/paths.ts";
import { MindCalls } from "./mind-calls.ts";
import type { MindToolOptions } from "./mind-tools.ts";

const caller: ProcessPrincipal = {
  kind: "process",
  agent: "test.mind",
  process: "channel",
  conversation: "c",
  id: "p",
  lineage: ownAccord,
};
const written: Hash = `sha256:${"a".repeat(64)}`;
const other: Hash = `sha256:${"b".repeat(64)}`;
const none: TaintMarks = { contents: [], folders: [] };
const evil: TaintedContent = { path: "web.md", hash: written, sources: ["agent:web"] };

/** Opens the taint records over an index with these contents; `downloads/**` is untrusted. */
async function knowing(contents: Readonly<Record<string, Hash>> = {}) {
  const database = await openNearDatabase({
    path: ":memory:",
    migrations: conversationMigrations,
    log: silentLog,
  });
  const matcher = matcherOf(() => ["downloads/**"]);
  const open = () =>
    new TaintedContents(database, {
      isUntrusted: matcher.matches,
      mayHoldUntrusted: matcher.reaches,
      fold: foldPath,
      contentOf: (path) => contents[path] ?? null,
    });
  return { tainted: open(), open, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
}

/** A process's calls of a file tool that shows these files, over actions as they are stored. */
function callsOf(tainted: TaintedContents, shown: readonly ShownFile[], stored = new Map<string, Action>()) {
  const kinds: Readonly<Record<string, "file" | "folder">> = { sub: "folder", "downloads/sub": "folder" };
  const calls = new MindCalls({
    tools: {
      call: async (_tool: string, _args: unknown, _caller: unknown, { show }: MindToolOptions) => {
        for (const file of shown) show?.(file);
        return { status: "error", message: "It does not matter what it says.", recoverable: true };
      },
    } as never,
    agents: {} as never,
    actions: { get: async (id) => stored.get(id) ?? null },
    asks: {} as never,
    tainted,
    kindOf: (path) => kinds[path] ?? null,
  });
  const sources = async (): Promise<readonly string[] | undefined> => {
    const options = { key: "k", signal: neverAborted, offered: ["files/read"], foreign: [] };
    const outcome = await calls.call(caller, "files/read", {}, options);
    expect(outcome.isTainted).toBe((outcome.sources ?? []).length > 0);
    return outcome.sources;
  };
  return { calls, sources };
}

/** Returns the sources of a call that shows these files, where "web.md" was written from the web's text. */
async function sourcesOf(
  shown: readonly ShownFile[],
  contents: Readonly<Record<string, Hash>> = {},
): Promise<readonly string[] | undefined> {
  await using known = await knowing(contents);
  await known.tainted.keep("a1", { contents: [evil], folders: [] });
  return await callsOf(known.tainted, shown).sources();
}

test.each<[string, ShownFile[], Record<string, Hash>]>([
  ["a whole file, under its path", [{ path: "web.md", read: written }], {}],
  ["a whole file that was moved or copied", [{ path: "moved.md", read: written }], {}],
  ["lines of a file, under its path", [{ path: "clean.md" }, { path: "web.md" }], {}],
  ["lines of a file that was moved or copied", [{ path: "moved.md" }], { "moved.md": written }],
  ["lines of a file that was replaced after it was read", [{ path: "moved.md", listed: written }], {}],
])("tainted contents are recognised: %s", async (_case, shown, contents) => {
  expect(await sourcesOf(shown, contents)).toEqual(["agent:web"]);
});

test("a file at a tainted path whose present content a person wrote is clean when it is read whole", async () => {
  expect(await sourcesOf([{ path: "web.md", read: other }], { "web.md": written })).toBeUndefined();
});

test("files beneath an untrusted pattern, in any spelling and however they are shown; others are clean", async () => {
  for (const path of ["downloads/a", "Downloads/a"]) {
    expect(await sourcesOf([{ path, read: other }])).toEqual([path]);
    expect(await sourcesOf([{ path: "clean.md" }, { path }])).toEqual([path]);
  }
  expect(await sourcesOf([{ path: "clean.md" }], { "clean.md": other })).toBeUndefined();
});

const process: Actor = { kind: "process", process: "channel", agent: "test.mind", conversation: "c" };
const action = (id: string, state: Action["state"], effect: Partial<Effect>, by = [process]): Action =>
  ({
    id,
    state,
    effects: [{ before: null, after: other, ...effect }],
    on_behalf_of: by,
  }) as unknown as Action;

describe("a folder that a mind moves out of an untrusted place", () => {
  const move = { kind: "file.move", from: "downloads/sub", path: "notes", before: other } as const;
  const moved = (state: Action["state"], by?: Actor[]) => action("m1", state, move, by as [typeof process]);
  const file: ShownFile = { path: "notes/deep/evil.md", read: other };

  test("is untrusted where it is, by each of its files, before it is made and for good", async () => {
    await using known = await knowing();
    const { calls, sources } = callsOf(known.tainted, [file]);
    for (const state of ["PendingApproval", "Committing", "Committed", "Undone"] as const) {
      await calls.actionChanged(moved(state));
      expect(await sources()).toEqual(["downloads/sub/deep/evil.md"]);
    }
    // The next kernel's.
    expect(await callsOf(known.open(), [file]).sources()).toEqual(["downloads/sub/deep/evil.md"]);
    expect(await callsOf(known.tainted, [{ ...file, path: "NOTES/evil.md" }]).sources()).toEqual([
      "downloads/sub/evil.md",
    ]);
    expect(await callsOf(known.tainted, [{ ...file, path: "notes.md" }]).sources()).toBeUndefined();
  });

  test("is as trusted as before where a person rejected it", async () => {
    await using known = await knowing();
    const { calls, sources } = callsOf(known.tainted, [file]);
    await calls.actionChanged(moved("PendingApproval"));
    await calls.actionChanged(moved("Rejected"));
    expect(await sources()).toBeUndefined();
  });

  test("takes its mark along when it, a folder above it, or a file of it is moved on, or moved back", async () => {
    await using known = await knowing();
    const { calls } = callsOf(known.tainted, []);
    await calls.actionChanged(moved("Committed"));
    const ofFile: Hash = `sha256:${"c".repeat(64)}`;
    const on = { ...move, from: "notes", path: "top/later" };
    await calls.actionChanged(action("m2", "Committed", on));
    await calls.actionChanged(action("m3", "Committed", { ...move, from: "top", path: "end" }));
    await calls.actionChanged(
      action("m4", "Committed", {
        ...on,
        from: "end/later/a.md",
        path: "b.md",
        before: ofFile,
        after: ofFile,
      }),
    );
    await calls.actionChanged(action("m5", "Committed", { ...move, from: "end", path: "top" }));
    const of = (path: string) => callsOf(known.tainted, [{ path, read: written }]).sources();
    for (const path of ["end/later/x", "top/later/x", "notes/x"])
      expect(await of(path)).toEqual(["downloads/sub/x"]);
    expect(await of("end/x")).toBeUndefined();
    expect(await callsOf(known.tainted, [{ path: "c.md", read: ofFile }]).sources()).toEqual([
      "downloads/sub/a.md",
    ]);
  });

  test("is not marked if a person's own agent moves it, or if nothing in it is untrusted", async () => {
    await using known = await knowing();
    const { calls, sources } = callsOf(known.tainted, [file]);
    await calls.actionChanged(moved("Committed", [{ kind: "agent", id: "test.tidy" }]));
    await calls.actionChanged(action("m2", "Committed", { ...move, from: "sub" }));
    expect(await sources()).toBeUndefined();
    expect(await known.tainted.ofPlaces(["notes/a"])).toEqual([]);
  });
});

describe("the mark of a content that a person approved", () => {
  test("outlives any number of proposals for its file, whatever becomes of them", async () => {
    await using known = await knowing();
    const { calls, sources } = callsOf(known.tainted, [{ path: "web.md", read: written }]);
    const write = { kind: "file.write", path: "web.md" } as const;
    const led = (id: string, state: Action["state"], after: Hash) => ({
      ...action(id, state, { ...write, after }),
      sources: ["agent:web"],
    });
    await calls.actionChanged(led("kept", "Committed", written));
    const hashOf = (at: number): Hash => `sha256:${String(at).padStart(64, "0")}`;
    for (let at = 0; at < 200; at += 1) {
      await calls.actionChanged(led(`p${at}`, "PendingApproval", hashOf(at)));
      if (at % 2 === 0)
        await calls.actionChanged(led(`p${at}`, at % 4 === 0 ? "Stale" : "Expired", hashOf(at)));
    }
    expect(await sources()).toEqual(["agent:web"]);
    expect(await known.tainted.proposed()).toHaveLength(100);
    const read = (at: number) => callsOf(known.tainted, [{ path: "x", read: hashOf(at) }]).sources();
    expect(await read(0)).toBeUndefined();
    expect(await read(1)).toEqual(["agent:web"]);
  });

  test("stays in what is made from it by several edits of one action, and by a merge, but not in what replaces it", async () => {
    await using known = await knowing();
    await known.tainted.keep("a", { contents: [evil], folders: [] });
    const { calls } = callsOf(known.tainted, []);
    const hashOf = (at: number): Hash => `sha256:${String(at).padStart(64, "0")}`;
    const chain = [written, hashOf(1), hashOf(2), hashOf(3)];
    const edits = chain
      .slice(1)
      .map((after, at) => ({ kind: "file.edit", path: "web.md", before: chain[at], after }));
    const write = { kind: "file.write", path: "web.md", before: written } as const;
    await calls.actionChanged({ ...action("edits", "Committed", {}), effects: edits as unknown as Effect[] });
    await calls.actionChanged({
      ...action("merged", "Committed", { ...write, after: hashOf(4) }),
      rebased_by: "user",
    });
    await calls.actionChanged(action("replaced", "Committed", { ...write, after: hashOf(5) }));
    const marks = [1, 2, 3, 4, 5].map((at) => known.tainted.ofContents([hashOf(at)]));
    expect(await Promise.all(marks)).toEqual([...Array.from({ length: 4 }, () => ["agent:web"]), []]);
  });

  test("stays when another action that would leave the same content is rejected", async () => {
    await using known = await knowing();
    const { tainted } = known;
    await tainted.propose("a", { contents: [evil], folders: [] });
    await tainted.propose("b", { contents: [evil], folders: [] });
    await tainted.keep("a", none);
    await tainted.drop("b");
    expect(await tainted.ofContents([written])).toEqual(["agent:web"]);
  });

  test("becomes one of the path once there are too many", async () => {
    await using known = await knowing();
    const contents = Array.from({ length: 1_001 }, (_, at): TaintedContent => ({
      ...evil,
      hash: `sha256:${String(at).padStart(64, "0")}`,
    }));
    await known.tainted.keep("a", { contents, folders: [] });
    expect(await known.tainted.ofContents([contents[0]?.hash ?? written])).toEqual([]);
    expect(await callsOf(known.tainted, [{ path: "web.md", read: other }]).sources()).toEqual(["agent:web"]);
  });
});

test("marks of actions that ended while no kernel ran are settled by the next one", async () => {
  await using known = await knowing();
  const paths = ["made.md", "rejected.md", "forgotten.md", "waiting.md"];
  const hashes = paths.map((_path, at): Hash => `sha256:${String(at).repeat(64)}`);
  for (const [at, path] of paths.entries())
    await known.tainted.propose(path, {
      contents: [{ ...evil, path, hash: hashes[at] ?? written }],
      folders: [],
    });
  const states = {
    "made.md": "Committed",
    "rejected.md": "Rejected",
    "waiting.md": "PendingApproval",
  } as const;
  const stored = new Map(
    Object.entries(states).map(([id, state]) => [
      id,
      action(id, state, { kind: "folder.create", after: null }),
    ]),
  );
  const { calls } = callsOf(known.tainted, [], stored);
  await calls.recover();
  expect(await known.tainted.proposed()).toEqual(["waiting.md"]);
  const tainted = await Promise.all(
    hashes.map(async (hash) => (await known.tainted.ofContents([hash])).length),
  );
  expect(tainted).toEqual([1, 0, 1, 1]);
});
