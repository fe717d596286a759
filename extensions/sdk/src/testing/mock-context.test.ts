import { expect, it } from "vitest";
import { type BeforeToolCall, defineAgent, type InterceptAnswer } from "../index.ts";
import { mockContext } from "./index.ts";

interface Memory {
  plan: { seen: string[] };
}

const agent = defineAgent<Memory>({
  hooks: {
    async seen({ entry }, ctx) {
      await ctx.memory.plan.update((plan) => ({ seen: [...plan.seen, entry.path] }));
      await ctx.vdfs.tags.add(entry.path, "seen");
      await ctx.actions.propose([{ kind: "file.move", from: entry.path, to: `archive/${entry.name}` }], {
        title: "Archive",
        reason: "old",
      });
      ctx.trace.info("seen", { path: entry.path });
    },
  },
});

it("runs a handler over entries in memory and records what it did", async () => {
  const ctx = mockContext<Memory>({
    entries: [
      { path: "photos/a.jpg", media: "image" },
      { path: "photos/b.txt", content: "€uro" },
      { path: "photos/c.jpg", thumbnail: { width: 1, height: 1, bytes: new Uint8Array([1, 2, 3, 255]) } },
    ],
    memory: { plan: { seen: [] } },
    clock: { now: () => 0 },
  });
  const [entry] = (await ctx.vdfs.query({ media: "image" })).items;
  expect((await ctx.vdfs.query({ kind: "image" })).items).toEqual([entry]);
  await agent.hooks?.["seen"]?.({ name: "EntryCreated", entry } as never, ctx);
  expect(await ctx.memory.plan.read()).toEqual({ seen: ["photos/a.jpg"] });
  expect((await ctx.vdfs.get("photos/a.jpg"))?.tags).toEqual(["seen"]);
  expect(ctx.recorded.actions.map(({ title, state, created }) => [title, state, created])).toEqual([
    ["Tag photos/a.jpg with seen", "Committed", "1970-01-01T00:00:00.000Z"],
    ["Archive", "PendingApproval", "1970-01-01T00:00:00.000Z"],
  ]);
  expect(ctx.recorded.traces).toEqual([{ level: "info", message: "seen", fields: { path: "photos/a.jpg" } }]);
  expect(await ctx.vdfs.readText("photos/b.txt")).toBe("€uro");
  const options = { maxPx: 64, format: "rgba8" } as const;
  expect(await ctx.vdfs.thumbnail("photos/c.jpg", options)).toEqual({
    width: 1,
    height: 1,
    bytes: new Uint8Array([1, 2, 3, 255]),
  });
  await expect(ctx.vdfs.thumbnail("photos/b.txt", options)).rejects.toMatchObject({ code: "InvalidParams" });
  await expect(ctx.vdfs.thumbnail("photos/d.jpg", options)).rejects.toMatchObject({ code: "NotFound" });
  expect(await ctx.vdfs.count({ path: "photos/*.txt" })).toBe(1);
});

it("refuses what the kernel's policy refuses: locations, filters, denied and unrequested permissions", async () => {
  const ctx = mockContext({
    entries: [{ path: "photos/a.jpg" }, { path: "photos/a.txt" }, { path: "secret/a.jpg" }],
    permissions: { read_entries: { filter: "*.jpg" }, write_tags: true },
    grants: { locations: ["photos/"], deny: ["write_tags"] },
  });
  expect((await ctx.vdfs.query()).items.map(({ path }) => path)).toEqual(["photos/a.jpg"]);
  expect(ctx.inGrantedScope("secret/a.jpg")).toBe(false);
  await expect(ctx.vdfs.read("secret/a.jpg")).rejects.toMatchObject({
    name: "LaresError",
    code: "ScopeViolation",
  });
  await expect(ctx.vdfs.read("../a.jpg")).rejects.toMatchObject({ code: "ScopeViolation" });
  await expect(ctx.vdfs.read("photos/a.txt")).rejects.toMatchObject({ code: "PermissionDenied" });
  await expect(ctx.vdfs.tags.add("photos/a.jpg", "x")).rejects.toMatchObject({ code: "PermissionDenied" });
  await expect(ctx.jobs.dispatch("work", {})).rejects.toMatchObject({ code: "PermissionDenied" });
  expect(ctx.recorded.actions).toEqual([]);
});

const reasons = { title: "Archive", reason: "old" };
const move = (name: string) => [{ kind: "file.move", from: name, to: `archive/${name}` }] as const;

it("a proposal with a key that was used before stores nothing and returns the first action", async () => {
  const ctx = mockContext({ entries: [{ path: "a" }, { path: "b" }] });
  const first = await ctx.actions.propose(move("a"), reasons, { key: "once" });
  expect(await ctx.actions.propose(move("b"), reasons, { key: "once" })).toEqual(first);
  expect(ctx.recorded.actions).toMatchObject([{ key: "once" }]);
});

it("a proposal takes the place of the one that it names, and of one that changes the same things", async () => {
  const ctx = mockContext({ entries: [{ path: "a" }, { path: "b" }] });
  const first = await ctx.actions.propose(move("a"), reasons);
  const second = await ctx.actions.propose(move("b"), reasons, { supersedes: first.id });
  const third = await ctx.actions.propose(move("b"), reasons);
  expect(ctx.recorded.actions.map(({ state, superseded_by }) => [state, superseded_by])).toEqual([
    ["Stale", second.id],
    ["Stale", third.id],
    ["PendingApproval", undefined],
  ]);
  expect(second.supersedes).toBe(first.id);
});

it.each([
  ["one that is unknown", "nothing", "NotFound"],
  ["one that was superseded already", "action-1", "IllegalTransition"],
  ["one that was applied", "action-3", "IllegalTransition"],
])("a proposal cannot supersede %s, and then stores nothing", async (_name, supersedes, code) => {
  const ctx = mockContext({ entries: [{ path: "a" }] });
  await ctx.actions.propose(move("a"), reasons);
  await ctx.actions.propose(move("a"), reasons);
  await ctx.vdfs.tags.add("a", "seen");
  await expect(ctx.actions.propose(move("a"), reasons, { supersedes })).rejects.toMatchObject({ code });
  expect(ctx.recorded.actions.map(({ state }) => state)).toEqual(["Stale", "PendingApproval", "Committed"]);
});

it("a handler that intercepts runs with the mock, and returns its answer", async () => {
  const agent = defineAgent({
    hooks: {
      guard: async (
        { tool, arguments: args }: BeforeToolCall,
        ctx,
      ): Promise<InterceptAnswer<"BeforeToolCall">> =>
        tool === "files/delete" && (await ctx.vdfs.get(String(args["path"]))) !== null
          ? { cancel: "kept" }
          : {},
    },
  });
  const ctx = mockContext({ entries: [{ path: "a.md" }] });
  const event = { name: "BeforeToolCall", tool: "files/delete", arguments: { path: "a.md" } } as never;
  expect(await agent.hooks?.["guard"]?.(event, ctx)).toEqual({ cancel: "kept" });
});

it("a tool that does not answer before its deadline rejects as in the kernel", async () => {
  const permissions = { call_tools: ["a.b/*"] };
  const ctx = mockContext({
    permissions,
    tools: { "a.b/never": () => new Promise(() => {}), "a.b/at_once": () => 1 },
  });
  expect(await ctx.tools.call("a.b/at_once", {}, { deadlineMs: 60_000 })).toBe(1);
  await expect(ctx.tools.call("a.b/never", {}, { deadlineMs: 1 })).rejects.toMatchObject({
    code: "DeadlineExceeded",
    facts: { deadline_ms: 1, call: "a.b/never" },
  });
});
