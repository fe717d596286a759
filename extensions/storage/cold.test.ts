import { mockContext, type MockEntry } from "@lares/sdk/testing";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Action, ActionState } from "@lares/sdk";
import agent from "./agent.ts";
import { findCold, looksLike } from "./cold.ts";
import type { Memory } from "./context.ts";
import { nothingYet } from "./memory.ts";
import { defaults, settingsOf } from "./settings.ts";

const mebibyte = 1024 * 1024;
const old = "2020-05-01T00:00:00.000Z";
const file = (path: string, mb = 20, modified = old): MockEntry => ({
  path,
  size: mb * mebibyte,
  modified,
  // A file without one is waited for.
  content_id: `sha256:${path}`,
});
const known = (path: string, mb = 20, modified = old) => ({
  ...file(path, mb, modified),
  id: path,
  size: mb * mebibyte,
  modified,
  content_id: null,
});
const now = Date.parse("2026-05-03T09:00:00Z");

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now });
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a cold file", () => {
  it("is large, was not changed for long, and is neither hidden nor moved already; the largest comes first", () => {
    const files = [
      known("a.mov", 20),
      known("b.mov", 900),
      known("small.mov", 9),
      known("fresh.mov", 20, "2026-05-01T00:00:00.000Z"),
      known("nonsense.mov", 20, "?"),
      known(".cache/c.mov"),
      known("archive/duplicates/d.mov"),
      known("cold/e.mov"),
      known("colder/f.mov", 30),
    ];
    const found = findCold(files, { ...defaults, cold_folder: "cold" }, now);
    expect(found.map(({ path }) => path)).toEqual(["b.mov", "colder/f.mov", "a.mov"]);
    expect(found[0]?.days).toBe(2193);
    expect(findCold(files, { ...defaults, cold_after_days: 3000 }, now)).toEqual([]);
  });

  it("looks like the one of its group that is not cold, else like the largest", () => {
    const cold = findCold([known("a.jpg", 20), known("b.jpg", 30), known("c.jpg", 20)], defaults, now);
    expect([
      ...looksLike(
        [
          ["a.jpg", "b.jpg"],
          ["c.jpg", "other.jpg"],
          ["x.jpg", "y.jpg"],
        ],
        cold,
      ),
    ]).toEqual([
      ["a.jpg", "b.jpg"],
      ["c.jpg", "other.jpg"],
    ]);
  });
});

it("settings for cold files have defaults, and no folder is made up", () => {
  expect(settingsOf({})).toMatchObject({ cold_after_days: 365, cold_min_mb: 10, cold_folder: null });
  expect(settingsOf({ cold_folder: "./cold/", cold_min_mb: -1, cold_after_days: "x" })).toMatchObject({
    cold_folder: "cold",
    cold_min_mb: 10,
    cold_after_days: 365,
  });
});

type Tools = NonNullable<NonNullable<Parameters<typeof mockContext>[0]>["tools"]>;
const albums = (...members: string[]): Tools => ({
  "dev.lares.photos/about_photos": (args) =>
    (args as { paths: string[] }).paths
      .filter((path) => members.includes(path))
      .map((path) => ({ path, albums: ["Rome"] })),
  "dev.lares.photos/duplicates": () => [],
});

function start(entries: readonly MockEntry[], config: Record<string, unknown> = {}, tools?: Tools) {
  const ctx = mockContext<Memory>({
    entries,
    config: { cold_folder: "cold", ...config },
    permissions: {
      read_entries: true,
      propose_actions: ["file.move"],
      call_tools: ["dev.lares.photos/about_photos", "dev.lares.photos/duplicates"],
    },
    memory: { plan: { ...nothingYet(), indexed: true } },
    ...(tools === undefined ? {} : { tools }),
  });
  const { actions } = ctx.recorded;
  const moves = (at = actions.length - 1) => actions[at]?.effects.map(({ from, path }) => [from, path]);
  /** Ends a proposal, the last one by default, and notifies the agent. */
  const end = async (
    state: ActionState,
    change: Partial<Action> = {},
    at = actions.length - 1,
  ): Promise<void> => {
    const ended = { ...(actions[at] as Action), ...change, state };
    actions[at] = ended;
    await agent.hooks?.["decided"]?.({ action: ended.id, state, title: "", paths: [] } as never, ctx);
  };
  const look = async (): Promise<void> => void (await agent.hooks?.["indexed"]?.({} as never, ctx));
  const call = async <T>(name: string, args: object = {}): Promise<T> =>
    (await agent.tools?.[name]?.(args, ctx)) as T;
  return { ctx, actions, moves, end, look, call };
}

describe("a suggestion", () => {
  it("moves cold files beneath their own paths, says how cold they are, and waits", async () => {
    const { actions, moves, look } = start([
      file("a/x.mov"),
      file("y.mov", 40),
      file("fresh", 40, "2026-05-01"),
    ]);
    await look();
    await look();
    expect(actions).toMatchObject([
      {
        title: "Move 2 files that nobody changed for long to cold/ (60 MB)",
        reason: expect.stringContaining("Not changed for 2193 days or more.") as string,
        state: "PendingApproval",
      },
    ]);
    expect(moves()).toEqual([
      ["y.mov", "cold/y.mov"],
      ["a/x.mov", "cold/a/x.mov"],
    ]);
  });

  it("is made in no folder but one that the person named", async () => {
    const { actions, look, call } = start([file("x.mov")], { cold_folder: "" });
    await look();
    expect(actions).toEqual([]);
    await expect(call("proposeCold")).rejects.toThrow("cold_folder: cold");
    expect(await call("coldFiles")).toMatchObject({
      folder: null,
      files: [{ path: "x.mov", proposed: false }],
    });
  });

  it("has at most 50 files, and the next comes when it was carried out", async () => {
    const { actions, look, end, ctx } = start(Array.from({ length: 60 }, (_, n) => file(`${n}.mov`, 20 + n)));
    await look();
    expect(actions[0]?.effects).toHaveLength(50);
    expect(actions[0]?.reason).toContain("10 more cold files");
    const plan = await ctx.memory.plan.read();
    expect(plan.cold?.open?.files).toHaveLength(50);
    await end("Committed");
    // The mock moves nothing, so that the same files are found again: they were not refused.
    expect(actions).toHaveLength(2);
  });

  it("that was rejected is not made again, and nothing else is suggested for a month", async () => {
    const { ctx, actions, look, end, call } = start([file("x.mov"), file("y.mov")], { cold_min_mb: 20 });
    await look();
    await end("Rejected");
    await look();
    expect(actions).toHaveLength(1);
    vi.setSystemTime(now + 31 * 24 * 3_600_000);
    await look();
    expect(actions).toHaveLength(1);
    expect(await call("coldFiles")).toMatchObject({ files: [{ refused: true }, { refused: true }] });
    expect(await call("proposeCold")).toEqual({ proposed: null });
    expect((await ctx.memory.plan.read()).cold?.refused).toHaveLength(2);
    expect(await call("proposeCold", { again: true })).toMatchObject({
      proposed: { state: "PendingApproval" },
    });
    expect(actions).toHaveLength(2);
  });

  it.each([
    [
      "undone",
      (one: ReturnType<typeof start>) => one.end("Committed").then(() => one.end("Undone", {}, 0)),
      ["x", "y"],
    ],
    [
      "approved in part",
      (one: ReturnType<typeof start>) =>
        one.end("Committed", { effects: one.actions[0]?.effects.filter(({ from }) => from === "x") ?? [] }),
      ["y"],
    ],
  ])("that was %s leaves out what the person did not want", async (_how, decide, left) => {
    const one = start([file("x"), file("y")]);
    await one.look();
    await decide(one);
    await one.look();
    const { cold } = await one.ctx.memory.plan.read();
    const ids = await Promise.all(left.map(async (path) => (await one.ctx.vdfs.get(path))?.id));
    expect(new Set(cold?.refused)).toEqual(new Set(ids));
    // In the mock nothing is moved, so that there is a next one before the first is undone.
    expect(one.actions.slice(left.length)).toEqual([]);
  });

  it("that expired may be made again", async () => {
    const { actions, look, end } = start([file("x.mov")]);
    await look();
    await end("Expired");
    expect(actions).toHaveLength(2);
  });
});

describe("photos", () => {
  it("in an album or a memory stay, with the reason", async () => {
    const tools = {
      ...albums("a.jpg"),
      "dev.lares.photos/about_photos": () => [
        { path: "a.jpg", albums: ["Rome\u202e"] },
        { path: "b.jpg", albums: [], memory: "On this weekend" },
        { path: "other.jpg", albums: ["no"] },
      ],
    };
    const { moves, actions, look, call } = start([file("a.jpg"), file("b.jpg"), file("c.jpg")], {}, tools);
    await look();
    expect(moves()).toEqual([["c.jpg", "cold/c.jpg"]]);
    expect(actions[0]?.reason).toContain(
      'Not among them: a.jpg, because it is in the album "Rome"; b.jpg, because it is in the memory "On this weekend".',
    );
    expect(await call("coldFiles")).toMatchObject({
      files: [{ path: "a.jpg", stays: 'it is in the album "Rome"' }, { path: "b.jpg" }, { path: "c.jpg" }],
    });
  });

  it("that look the same as another come first", async () => {
    const tools = { ...albums(), "dev.lares.photos/duplicates": () => [["small.jpg", "large.jpg"]] };
    const { moves, actions, look } = start(
      [file("film.mov", 90), file("large.jpg", 40), file("small.jpg", 20)],
      {},
      tools,
    );
    await look();
    expect(moves()?.map(([from]) => from)).toEqual(["small.jpg", "film.mov", "large.jpg"]);
    expect(actions[0]?.reason).toContain("small.jpg looks the same as large.jpg.");
  });

  it.each([
    ["is not installed", undefined, "was not asked: the agent Photos (dev.lares.photos) is not installed."],
    ["answers nonsense", { "dev.lares.photos/duplicates": () => "?" }, "the agent Photos failed."],
    [
      "fails in between",
      { ...albums(), "dev.lares.photos/about_photos": () => Promise.reject(new Error("no")) },
      "the agent Photos failed.",
    ],
  ])("are moved like other files, which is said, where Photos %s", async (_what, tools, sentence) => {
    const { actions, moves, look, call } = start([file("a.jpg")], {}, tools);
    await look();
    expect(moves()).toEqual([["a.jpg", "cold/a.jpg"]]);
    expect(actions[0]?.reason).toContain(sentence);
    expect(await call("coldFiles")).toMatchObject({ note: expect.stringContaining(sentence) as string });
  });

  it("are not asked about where no cold file is a picture", async () => {
    const { ctx, look } = start([file("a.mov")]);
    await look();
    expect(ctx.recorded.calls.filter(({ method }) => method === "tools/call")).toEqual([]);
  });
});
