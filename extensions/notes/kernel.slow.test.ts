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

it("proposes a heading, writes it when approved, takes it away when undone, and asks no more", async () => {
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

it("asks again about a note whose proposal went stale, once it is saved again", async () => {
  await using kernel = await runInKernel(extension, empty);
  await kernel.write("list.md", "milk\n");
  const [first] = await kernel.waitFor(async () => {
    const actions = await kernel.actions({ state: "PendingApproval" });
    return actions.length > 0 && actions;
  });
  await kernel.write("list.md", "milk, and eggs\n");
  await kernel.idle();
  expect(await kernel.actions()).toHaveLength(1);
  expect(await kernel.approve(first?.id ?? "")).toMatchObject({ state: "Stale" });
  await kernel.write("list.md", "milk, and two eggs\n");
  const [second] = await kernel.waitFor(async () => {
    const actions = await kernel.actions({ state: "PendingApproval" });
    return actions.length > 0 && actions;
  });
  await kernel.approve(second?.id ?? "");
  expect(await kernel.read("list.md")).toBe("# List\n\nmilk, and two eggs\n");
});
