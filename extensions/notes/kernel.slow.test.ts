import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runInKernel } from "@lares/sdk/testing";
import { afterEach, beforeEach, expect, it } from "vitest";

const extension = fileURLToPath(new URL(".", import.meta.url));
let empty = "";

beforeEach(async () => {
  empty = await mkdtemp(join(tmpdir(), "lares-notes-"));
});
afterEach(() => rm(empty, { recursive: true }));

it("proposes a heading, writes it when approved, removes it when undone, and does not ask again", async () => {
  await using kernel = await runInKernel(extension, empty);
  await kernel.write("notes/first-note.md", "milk\neggs\n");
  await kernel.write("notes/titled.md", "# Titled\n");
  await kernel.write("notes/plain.txt", "not Markdown\n");
  const [pending] = await kernel.waitFor(async () => {
    const actions = await kernel.actions({ state: "PendingApproval" });
    return actions.length > 0 && actions;
  });
  const proposal = await kernel.action(pending?.id ?? "");
  expect(proposal).toMatchObject({
    agent: "dev.lares.notes",
    title: "Give first-note.md the heading “First note”",
    effects: [{ kind: "file.write", path: "notes/first-note.md" }],
  });
  expect(proposal.effects[0]?.diff).toContain("+# First note");

  expect(await kernel.approve(proposal.id)).toMatchObject({ state: "Committed" });
  expect(await kernel.read("notes/first-note.md")).toBe("# First note\n\nmilk\neggs\n");
  expect(await kernel.undo(proposal.id)).toMatchObject({ state: "Undone" });
  expect(await kernel.read("notes/first-note.md")).toBe("milk\neggs\n");

  await kernel.write("notes/first-note.md", "milk\neggs\nbread\n");
  await kernel.idle();
  expect(await kernel.actions()).toHaveLength(1);
  expect(await kernel.call("untitled")).toEqual(["notes/first-note.md"]);
});

it("three saves leave one waiting proposal, for the last text", async () => {
  await using kernel = await runInKernel(extension, empty);
  const pending = () => kernel.actions({ state: "PendingApproval" });
  for (const text of ["milk\n", "milk, and eggs\n", "milk, and two eggs\n"]) {
    await kernel.write("list.md", text);
    await kernel.idle();
    await kernel.waitFor(async () => {
      const [action, ...others] = await pending();
      const diff = action === undefined ? "" : ((await kernel.action(action.id)).effects[0]?.diff ?? "");
      return others.length === 0 && diff.includes(` ${text}`);
    });
  }
  const actions = await kernel.actions();
  const [live, ...older] = actions;
  expect(live?.state).toBe("PendingApproval");
  expect(older.length).toBeGreaterThan(0);
  for (const { state, superseded_by } of older)
    expect({ state, isSuperseded: superseded_by !== undefined }).toEqual({
      state: "Stale",
      isSuperseded: true,
    });
  await kernel.approve(live?.id ?? "");
  expect(await kernel.read("list.md")).toBe("# List\n\nmilk, and two eggs\n");
});

it("asks again after a rejection once the note is saved again, but not after one with a reason", async () => {
  await using kernel = await runInKernel(extension, empty);
  const onlyPending = () =>
    kernel.waitFor(async () => {
      const actions = await kernel.actions({ state: "PendingApproval" });
      return actions.length === 1 && actions[0];
    });
  await kernel.write("list.md", "milk\n");
  await kernel.reject((await onlyPending()).id);
  await kernel.write("list.md", "milk, and eggs\n");
  await kernel.reject((await onlyPending()).id, "No headings in my lists");
  await kernel.idle();
  await kernel.write("list.md", "milk, and two eggs\n");
  await kernel.idle();
  expect(await kernel.actions({ state: "PendingApproval" })).toEqual([]);
});
