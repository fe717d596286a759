import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { entryOf } from "./entries.ts";
import { agent, MindBench, person } from "./testing/mind-bench.ts";

const asked = (bench: MindBench): string => JSON.stringify(bench.questions.at(-1)?.question.messages);

/** The files in a folder that hold a text. */
async function filesWith(folder: string, text: string): Promise<string[]> {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const file of files.filter((each) => each.isFile()))
    if ((await readFile(join(file.parentPath, file.name))).includes(text)) found.push(file.name);
  return found;
}

async function talk(bench: MindBench, id: string, text: string): Promise<void> {
  await bench.send(id, text);
  await bench.rested(id);
}

test("a block that a person writes is told in running conversations, and stands in others, also after a restart", async () => {
  const bench = await MindBench.open();
  const { id } = await bench.open();
  await talk(bench, id, "hello");
  const written = await bench.service.editBlock(person, { agent, name: "project", text: "A folder of maps" });
  expect(written).toMatchObject({ name: "project", text: "A folder of maps", limit: 200, scope: "mind" });
  await talk(bench, id, "and now?");
  expect(asked(bench)).toContain("now reads");
  expect(asked(bench)).toContain("A folder of maps");
  await bench.restart();
  const second = await bench.open();
  await talk(bench, second.id, "hello");
  expect(asked(bench)).toContain("A folder of maps");
  expect(asked(bench)).not.toContain("now reads");
  expect((await bench.service.get(second.id)).tainted).toEqual([]);
  expect((await bench.service.blocks({ agent })).items).toMatchObject([
    { name: "project", text: "A folder of maps" },
  ]);
});

test("a person's text replaces one that held in a conversation only, because nobody vouched for it", async () => {
  const bench = await MindBench.open();
  bench.isScripted = true;
  let calls = 0;
  bench.model = () =>
    calls++ === 0
      ? { call: [{ tool: "block_edit", arguments: { name: "project", replace: "a stranger's text" } }] }
      : { say: "ok" };
  const { id } = await bench.open();
  await talk(bench, id, "write it");
  expect((await bench.service.blocks({ agent })).items[0]?.text).toBe("");
  await bench.service.editBlock(person, { agent, name: "project", text: "What it is about" });
  await talk(bench, id, "and now?");
  const told = (await bench.entries(id)).findLast(({ kind }) => kind === "block");
  expect(told).toMatchObject({ text: "What it is about", origin: "workspace" });
  expect(told).not.toHaveProperty("tainted");
});

test("a block of one conversation is written there, and nowhere else", async () => {
  const bench = await MindBench.open();
  const [{ id }, other] = [await bench.open(), await bench.open()];
  const edit = { agent, name: "here", text: "About birds" };
  await expect(bench.service.editBlock(person, edit)).rejects.toMatchObject({ code: "InvalidParams" });
  await bench.service.editBlock(person, { ...edit, id });
  await talk(bench, id, "hello");
  expect(asked(bench)).toContain("About birds");
  await talk(bench, other.id, "hello");
  expect(asked(bench)).not.toContain("About birds");
  const texts = async (of: string) =>
    (await bench.service.blocks({ agent, id: of })).items.map(({ text }) => text);
  expect([await texts(id), await texts(other.id)]).toEqual([
    ["", "About birds"],
    ["", ""],
  ]);
});

test("a block that is forgotten is in no file and no request, whoever wrote it", async () => {
  const bench = await MindBench.open();
  const secret = "the harbour-master's name is Ophelia";
  let calls = 0;
  bench.model = () =>
    calls++ === 0
      ? { call: [{ tool: "block_edit", arguments: { name: "project", replace: secret } }] }
      : { say: "ok" };
  const { id } = await bench.open();
  await talk(bench, id, "write it");
  const second = await bench.open();
  await talk(bench, second.id, "hello");
  expect(asked(bench)).toContain(secret);
  await bench.service.editBlock(person, { agent, name: "project", text: "About boats", forget: true });
  expect(await filesWith(bench.folder, secret)).toEqual([]);
  await bench.restart();
  for (const each of [id, second.id]) {
    await talk(bench, each, "what do you know?");
    expect(asked(bench)).not.toContain(secret);
    expect(asked(bench)).toContain("About boats");
    expect(await bench.service.verify({ id: each })).toMatchObject({ ok: true });
  }
  expect(await bench.service.verify({ agent })).toMatchObject({ ok: true });
  expect((await bench.service.blocks({ agent })).items[0]?.text).toBe("About boats");
});

test("what a person can write into a block is checked", async () => {
  const bench = await MindBench.open();
  const { service } = bench;
  const edit = { agent, name: "project", text: "new" };
  for (const [change, code] of [
    [{ agent: "test.nobody" }, "NotFound"],
    [{ name: "none" }, "NotFound"],
    [{ id: "0199a000-0000-7000-8000-000000000000" }, "NotFound"],
    [{ text: "x".repeat(201) }, "LimitExceeded"],
  ] as const)
    await expect(service.editBlock(person, { ...edit, ...change })).rejects.toMatchObject({ code });
  bench.model = () => ({ hangs: true });
  const { id } = await bench.open();
  await bench.send(id, "wait");
  await expect(service.editBlock(person, { ...edit, forget: true })).rejects.toMatchObject({
    code: "IllegalTransition",
  });
  // Without forgetting it is told when the model is asked next.
  await service.editBlock(person, edit);
});

/** Appends edits to the log of the mind itself, as many as an hourly bulletin makes in six weeks. */
async function addBulletins(bench: MindBench): Promise<void> {
  using opened = await bench.minds.conversations.openMind(agent);
  const maker = { process: agent, turn: "", clock: bench.clock };
  for (let at = 0; at < 12; at++)
    await opened.log.append(
      Array.from({ length: 100 }, (_, each) =>
        entryOf(
          maker,
          { kind: "block", name: "bulletin", text: `bulletin ${at * 100 + each}` },
          { origin: "model" },
        ),
      ),
    );
}

test("a block stays whatever is written after it, and is forgotten however long ago it was said", async () => {
  const bench = await MindBench.open();
  await bench.service.editBlock(person, { agent, name: "project", text: "A folder of treasure maps" });
  await bench.service.editBlock(person, { agent, name: "project", text: "A folder of maps" });
  await addBulletins(bench);
  await bench.restart();
  expect((await bench.service.blocks({ agent })).items).toMatchObject([{ text: "A folder of maps" }]);
  const { id } = await bench.open();
  await talk(bench, id, "hello");
  expect(asked(bench)).toContain("A folder of maps");
  await bench.service.editBlock(person, { agent, name: "project", text: "", forget: true });
  expect(await filesWith(bench.folder, "treasure maps")).toEqual([]);
  expect(await filesWith(bench.folder, "bulletin 7")).not.toEqual([]);
});
