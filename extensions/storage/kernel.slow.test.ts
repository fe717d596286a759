import { mkdtemp, readdir, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runInKernel } from "@lares/sdk/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Bench, tool } from "../../test/support/bench.ts";
import type { Action } from "../../test/support/types.ts";
import { until } from "../../test/support/until.ts";

const extension = fileURLToPath(new URL(".", import.meta.url));
let empty = "";

beforeEach(async () => {
  empty = await mkdtemp(join(tmpdir(), "lares-storage-"));
});
afterEach(() => rm(empty, { recursive: true }));

it("proposes duplicates, moves them when approved, restores them when undone, and does not ask again", async () => {
  await using kernel = await runInKernel(extension, empty);
  await kernel.write("notes/plan.md", "the same words\n");
  await kernel.write("inbox/plan copy.md", "the same words\n");
  await kernel.write("notes/other.md", "some other words\n");
  const [pending] = await kernel.waitFor(async () => {
    const actions = await kernel.actions({ state: "PendingApproval" });
    return actions.length > 0 && actions;
  });
  const proposal = await kernel.action(pending?.id ?? "");
  expect(proposal).toMatchObject({
    agent: "dev.lares.storage",
    title: "Archive 1 extra copy of plan.md (15 bytes)",
    state: "PendingApproval",
    effects: [
      { kind: "file.move", from: "inbox/plan copy.md", path: "archive/duplicates/inbox/plan copy.md" },
    ],
  });
  expect(proposal.reason).toContain("notes/plan.md stays");

  expect(await kernel.approve(proposal.id)).toMatchObject({ state: "Committed", decided_by: "user" });
  expect(await kernel.read("inbox/plan copy.md")).toBe(null);
  expect(await kernel.read("archive/duplicates/inbox/plan copy.md")).toBe("the same words\n");
  expect(await kernel.read("notes/plan.md")).toBe("the same words\n");

  expect(await kernel.undo(proposal.id)).toMatchObject({ state: "Undone" });
  expect(await kernel.read("inbox/plan copy.md")).toBe("the same words\n");
  expect(await kernel.read("archive/duplicates/inbox/plan copy.md")).toBe(null);
  await kernel.idle();
  // The undo was a no: the copies still exist, and nobody is asked about them again.
  await kernel.write("notes/third.md", "other words again\n");
  await kernel.idle();
  expect(await kernel.actions()).toHaveLength(1);
  expect(await readdir(empty)).toEqual([]);
});

it("does not repeat a rejected proposal until asked to; moves no file that changed before the answer", async () => {
  await using kernel = await runInKernel(extension, empty);
  await kernel.write("a/photo.jpg", "the same bytes");
  await kernel.write("downloads/photo.jpg", "the same bytes");
  await kernel.idle();
  const [proposal] = await kernel.actions();
  expect(await kernel.reject(proposal?.id ?? "", "I want both")).toMatchObject({ state: "Rejected" });

  await kernel.write("downloads/photo.jpg", "for a moment something else");
  await kernel.idle();
  await kernel.write("downloads/photo.jpg", "the same bytes");
  await kernel.idle();
  const { groups } = await kernel.call<{ groups: { keep: string; proposed: boolean }[] }>("duplicates");
  expect(groups).toMatchObject([{ keep: "a/photo.jpg", proposed: true }]);
  expect(await kernel.call("propose")).toEqual({ proposed: [], groups: 1 });
  expect(await kernel.actions()).toHaveLength(1);

  const again = await kernel.call<{ proposed: { state: string }[] }>("propose", { again: true });
  expect(again.proposed).toMatchObject([{ state: "PendingApproval" }]);

  const [asked] = await kernel.actions({ state: "PendingApproval" });
  await kernel.write("downloads/photo.jpg", "edited before the answer");
  await kernel.waitFor(async () => (await kernel.action(asked?.id ?? "")).state === "Stale");
  expect(await kernel.actions({ state: "PendingApproval" })).toEqual([]);
  expect(await kernel.read("downloads/photo.jpg")).toBe("edited before the answer");
});

it("warns about a large file without a second copy; moves without asking if a rule of the person allows it", async () => {
  const approvals = { rules: [{ decide: "allow", agent: "dev.lares.storage", kind: "file.move" }] };
  const config = { large_bytes: 1000, archive: "kept" };
  await using kernel = await runInKernel(extension, empty, { config, approvals });
  await kernel.write("film.mov", "x".repeat(2000));
  await kernel.write("a.txt", "twice");
  await kernel.write("b.txt", "twice");
  await kernel.waitFor(async () => (await kernel.read("kept/b.txt")) === "twice");
  // The file is in its place a moment before the ledger has the action as committed.
  const committed = await kernel.waitFor(async () => {
    const actions = await kernel.actions({ state: "Committed" });
    return actions.length > 0 && actions;
  });
  expect(committed).toMatchObject([{ decided_by: "policy" }]);
  await kernel.waitFor(async () => (await kernel.traces({ level: "warn", text: "film.mov" })).length > 0);
});

it("proposes the rest of a group again when one of its files changed before the answer", async () => {
  await using kernel = await runInKernel(extension, empty);
  const onlyPending = (paths: readonly string[]) =>
    kernel.waitFor(async () => {
      const actions = await kernel.actions({ state: "PendingApproval" });
      const [action] = actions;
      const from = action?.effects.map((effect) => effect.from) ?? [];
      return actions.length === 1 && from.toString() === paths.toString() && action;
    });
  await kernel.write("a/photo.jpg", "the same bytes");
  await kernel.write("downloads/one.jpg", "the same bytes");
  const first = await onlyPending(["downloads/one.jpg"]);
  await kernel.write("inbox/two.jpg", "the same bytes");
  await kernel.idle();
  await kernel.write("downloads/one.jpg", "other bytes");
  await kernel.waitFor(async () => (await kernel.action(first.id)).state === "Stale");
  await onlyPending(["inbox/two.jpg"]);
});

const proposalFor = async (deny: readonly string[]): Promise<{ from: unknown; reason: string }> => {
  await using bench = await Bench.create({
    files: { "inbox/x.jpg": "the same bytes", "albums/Old.album.md": "# Old\n" },
  });
  const client = await bench.open();
  const { trust } = await bench.status(client);
  const photos = { id: "dev.lares.photos", grants: { locations: ["."] } };
  const storage = { id: "dev.lares.storage", grants: { locations: ["."], deny } };
  const rules = [{ decide: "allow", agent: photos.id }];
  await bench.writeLares({ keys: { extensions: [photos, storage], approvals: { rules } } });
  await bench.accept(client, trust.digest);
  const album = await until("an album", async () => {
    try {
      const args = { name: "Rome", photos: ["inbox/x.jpg"] };
      return await tool<{ state: string }>(client, photos.id, "create_album", args);
    } catch {
      return null;
    }
  });
  expect(album.state).toBe("Committed");
  await bench.write("filed/x.jpg", "the same bytes");
  return await until("a proposal", async () => {
    const [first] = await client.request<Action[]>("lares/actions/list", { agent: storage.id });
    if (first === undefined) return null;
    const { effects, reason } = await client.request<Action>("lares/actions/get", { id: first.id });
    return { from: effects[0]?.from, reason: reason ?? "" };
  });
};

it("asks Photos first: of two copies the one in an album stays", async () => {
  expect(await proposalFor([])).toMatchObject({
    from: "filed/x.jpg",
    reason: expect.stringContaining('inbox/x.jpg stays: it is in the album "Rome"') as string,
  });
});

it("proposes without Photos where a person withheld the tool, and says so", async () => {
  expect(await proposalFor(["call_tools"])).toMatchObject({
    from: "inbox/x.jpg",
    reason: expect.stringContaining("was not asked: the tool dev.lares.photos/about_photos") as string,
  });
});

const large = "x".repeat(2 * 1024 * 1024);
const longAgo = new Date("2020-05-01T00:00:00Z");

it("suggests to move cold files to the named folder, undoes it, and does not suggest again what was refused", async () => {
  const config = { cold_folder: "cold", cold_min_mb: 1, large_bytes: 1e9 };
  await using kernel = await runInKernel(extension, empty, { config });
  await kernel.write("films/old.mov", large);
  await kernel.write("films/new.mov", `${large}!`);
  await utimes(join(kernel.workspace, "films/old.mov"), longAgo, longAgo);
  const cold = () =>
    kernel.call<{ files: { path: string; proposed: boolean; refused: boolean }[] }>("cold_files");
  await kernel.waitFor(async () => (await cold()).files.length === 1);
  // A proposal goes stale when the index learns more about its file later.
  await kernel.idle();
  // The agent may have suggested the move by itself; then this call proposes nothing.
  await kernel.call("propose_cold");
  const [pending] = await kernel.actions({ state: "PendingApproval" });
  const proposal = await kernel.action(pending?.id ?? "");
  expect(proposal).toMatchObject({
    title: "Move 1 file that nobody changed for long to cold/ (2.0 MB)",
    effects: [{ kind: "file.move", from: "films/old.mov", path: "cold/films/old.mov" }],
  });
  expect(proposal.impact_score).toBeGreaterThan(0);
  expect(await cold()).toMatchObject({ files: [{ path: "films/old.mov", proposed: true }] });
  expect(await kernel.approve(proposal.id)).toMatchObject({ state: "Committed", decided_by: "user" });
  expect(await kernel.read("cold/films/old.mov")).toBe(large);
  await kernel.waitFor(async () => (await cold()).files.length === 0);

  expect(await kernel.undo(proposal.id)).toMatchObject({ state: "Undone" });
  expect(await kernel.read("films/old.mov")).toBe(large);
  await kernel.waitFor(async () => (await cold()).files.length === 1);
  expect(await kernel.call("propose_cold")).toEqual({ proposed: null });
  expect(await cold()).toMatchObject({ files: [{ path: "films/old.mov", proposed: false, refused: true }] });
  expect(await kernel.call("propose_cold", { again: true })).toMatchObject({
    proposed: { state: "PendingApproval" },
  });
});

it("asks Photos about cold files: one in an album stays where it is", async () => {
  await using bench = await Bench.create({
    files: { "pics/a.jpg": large, "films/old.mov": `${large}.`, "albums/Old.album.md": "# Old\n" },
  });
  for (const path of ["pics/a.jpg", "films/old.mov"]) await utimes(bench.path(path), longAgo, longAgo);
  const client = await bench.open();
  const { trust } = await bench.status(client);
  const photos = { id: "dev.lares.photos", grants: { locations: ["."] } };
  const config = { cold_folder: "cold", cold_min_mb: 1, large_bytes: 1e9 };
  const storage = { id: "dev.lares.storage", grants: { locations: ["."] }, config };
  const approvals = { rules: [{ decide: "allow", agent: photos.id }] };
  await bench.writeLares({ keys: { extensions: [photos], approvals } });
  await bench.accept(client, trust.digest);
  await until("an album", async () => {
    try {
      const args = { name: "Rome", photos: ["pics/a.jpg"] };
      return await tool<{ state: string }>(client, photos.id, "create_album", args);
    } catch {
      return null;
    }
  });
  const { trust: before } = await bench.status(client);
  await bench.writeLares({ keys: { extensions: [photos, storage], approvals } });
  await bench.accept(client, before.digest);
  // It suggests by itself once it has the index; a call only makes that sooner.
  const proposal = await until("a suggestion", async () => {
    await tool(client, storage.id, "propose_cold", {}).catch(() => null);
    const [first] = await client.request<Action[]>("lares/actions/list", { agent: storage.id });
    return first === undefined ? null : await client.request<Action>("lares/actions/get", { id: first.id });
  });
  expect(proposal.effects.map(({ from }) => from)).toEqual(["films/old.mov"]);
  expect(proposal.reason).toContain('pics/a.jpg, because it is in the album "Rome"');
  expect(await tool(client, storage.id, "cold_files", {})).toMatchObject({
    files: [{ path: "films/old.mov" }, { path: "pics/a.jpg", stays: 'it is in the album "Rome"' }],
  });
});
