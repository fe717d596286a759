import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
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

it("a note that moves has its links repaired, a second move while the question waits is part of it, and a rejection ends only those", async () => {
  await using kernel = await runInKernel(extension, empty);
  const pending = (count: number) =>
    kernel.waitFor(async () => {
      const actions = await kernel.actions({ state: "PendingApproval" });
      return actions.length === count && actions;
    });
  await kernel.write("notes/start.md", "# Start\n\n[Rome](rome.md), [[Paris]] and `[Rome](rome.md)`\n");
  await kernel.write("notes/rome.md", "# Rome\n\n[back](start.md)\n");
  await kernel.write("notes/Paris.md", "# Paris\n");
  await kernel.idle();
  expect(await kernel.actions()).toEqual([]);

  await rename(join(kernel.workspace, "notes/rome.md"), join(kernel.workspace, "notes/roma.md"));
  await pending(1);
  await kernel.idle();
  await mkdir(join(kernel.workspace, "notes/trips"));
  await rename(join(kernel.workspace, "notes/roma.md"), join(kernel.workspace, "notes/trips/roma.md"));
  const last = await kernel.waitFor(async () => {
    const [action] = await kernel.actions({ state: "PendingApproval" });
    return action?.title === "Repair links in 2 notes" && action;
  });
  expect(await kernel.approve(last.id)).toMatchObject({ state: "Committed" });
  expect(await kernel.read("notes/start.md")).toBe(
    "# Start\n\n[Rome](trips/roma.md), [[Paris]] and `[Rome](rome.md)`\n",
  );
  expect(await kernel.read("notes/trips/roma.md")).toBe("# Rome\n\n[back](../start.md)\n");
  await kernel.idle();
  expect(await kernel.actions({ state: "PendingApproval" })).toEqual([]);

  await rename(join(kernel.workspace, "notes/Paris.md"), join(kernel.workspace, "notes/Lutetia.md"));
  await kernel.reject((await pending(1))[0]!.id, "The name stays");
  await kernel.idle();
  await rename(join(kernel.workspace, "notes/trips/roma.md"), join(kernel.workspace, "notes/trips/rome.md"));
  const [again] = await pending(1);
  await kernel.approve(again!.id);
  expect(await kernel.read("notes/start.md")).toContain("[Rome](trips/rome.md), [[Paris]]");
  await kernel.idle();

  await rename(join(kernel.workspace, "notes/trips"), join(kernel.workspace, "notes/travels"));
  const [folder] = await pending(1);
  await kernel.approve(folder!.id);
  expect(await kernel.read("notes/start.md")).toContain("[Rome](travels/rome.md), [[Paris]]");
});

it("a folder of many notes that moves is repaired in as few proposals as have room for it, made from few looks at all notes", async () => {
  await using kernel = await runInKernel(extension, empty);
  const names = Array.from({ length: 110 }, (_, index) => `note ${index}`);
  for (const name of names) await kernel.write(`old/${name}.md`, `# ${name}\n\n[home](../home.md)\n`);
  const links = names.map((name) => `- [${name}](<old/${name}.md>)\n`).join("");
  await kernel.write("home.md", `# Home\n\n${links}`);
  await kernel.idle();
  await mkdir(join(kernel.workspace, "deep"));
  await rename(join(kernel.workspace, "old"), join(kernel.workspace, "deep/new"));
  const { id } = await kernel.waitFor(async () => {
    const [action, ...others] = await kernel.actions({ state: "PendingApproval" });
    return others.length === 0 && action?.title === "Repair links in 100 of 111 notes" && action;
  });
  await kernel.idle();
  expect((await kernel.actions()).length).toBeLessThan(10);
  await kernel.approve(id);
  const rest = await kernel.waitFor(async () => {
    const [action] = await kernel.actions({ state: "PendingApproval" });
    return action?.title === "Repair links in 11 notes" && action;
  });
  await kernel.approve(rest.id);
  expect(await kernel.read("home.md")).toBe(`# Home\n\n${links.replaceAll("<old/", "<deep/new/")}`);
  for (const name of names)
    expect(await kernel.read(`deep/new/${name}.md`)).toBe(`# ${name}\n\n[home](../../home.md)\n`);
  await kernel.idle();
  expect(await kernel.actions({ state: "PendingApproval" })).toEqual([]);
});

it("moved back while the question waits, a note needs no repair, and the question is withdrawn", async () => {
  await using kernel = await runInKernel(extension, empty);
  const [rome, roma] = [join(kernel.workspace, "rome.md"), join(kernel.workspace, "roma.md")];
  await kernel.write("start.md", "# Start\n\n[Rome](rome.md)\n");
  await kernel.write("rome.md", "# Rome\n");
  await kernel.idle();
  const repair = async (state: "PendingApproval" | "Rejected") => {
    const [action] = await kernel.actions({ state });
    return action?.title === "Repair links in 1 note" && action;
  };
  await rename(rome, roma);
  const { id } = await kernel.waitFor(() => repair("PendingApproval"));
  await kernel.idle();
  await rename(roma, rome);
  expect(await kernel.waitFor(() => repair("Rejected"))).toMatchObject({ id, decided_by: "policy" });
  expect(await kernel.read("start.md")).toBe("# Start\n\n[Rome](rome.md)\n");

  await rename(rome, roma);
  await kernel.approve((await kernel.waitFor(() => repair("PendingApproval"))).id);
  expect(await kernel.read("start.md")).toContain("[Rome](roma.md)");
});

it("answers what links, tags, tasks and related notes there are", async () => {
  await using kernel = await runInKernel(extension, empty);
  await kernel.write(
    "bread.md",
    "# Bread\n\n#kitchen Flour, water and yeast make sourdough bread.\n- [ ] buy flour\n",
  );
  await kernel.write(
    "pizza.md",
    "# Pizza\n\n#kitchen Dough of flour, water and yeast. [bread](bread.md) [[Nowhere]]\n- [x] oven\n",
  );
  await kernel.write("taxes.md", "# Taxes\n\nThe office wants the forms in May.\n");
  await kernel.idle();
  expect(await kernel.call("links", { path: "pizza.md" })).toEqual({
    links: ["bread.md"],
    broken: ["Nowhere"],
    backlinks: [],
  });
  expect(await kernel.call("links", { path: "bread.md" })).toMatchObject({ backlinks: ["pizza.md"] });
  expect(await kernel.call("tags")).toEqual([{ tag: "kitchen", count: 2, notes: ["bread.md", "pizza.md"] }]);
  expect(await kernel.call("tasks")).toEqual({
    total: 1,
    tasks: [{ path: "bread.md", line: 4, text: "buy flour" }],
  });
  expect(await kernel.call("tasks", { done: true })).toMatchObject({ total: 1 });
  expect(await kernel.call("related", { path: "pizza.md", limit: 1 })).toMatchObject([{ path: "bread.md" }]);
  await rename(join(kernel.workspace, "bread.md"), join(kernel.workspace, "loaf.md"));
  await kernel.waitFor(async () => {
    const [first] = (await kernel.call("related", { path: "pizza.md", limit: 1 })) as { path: string }[];
    return first?.path === "loaf.md";
  });
});
