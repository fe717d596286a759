import { expect, test } from "vitest";
import { agent, MindBench } from "./testing/mind-bench.ts";

test("a search finds what was said, what is known, and present texts of blocks, each where it was asked for", async () => {
  const bench = await MindBench.open();
  const { id } = await bench.open();
  const edit = (name: string, replace: string) => ({
    call: [{ tool: "block_edit", arguments: { name, replace } }],
  });
  const answers = [
    edit("here", "the old harbour"),
    edit("here", "the harbour of this talk"),
    edit("project", "a harbour for all"),
    { say: "The harbour is noted." },
  ];
  bench.model = () => answers.shift() ?? { say: "ok" };
  await bench.send(id, "Note the harbour.");
  await bench.rested(id);
  bench.memories.push({
    type: "Fact",
    text: "The harbour freezes.",
    conversation: id,
    call: "c",
    sources: [],
    isTainted: false,
  });
  const search = async (places?: ("messages" | "memories" | "blocks")[], query = "harbour") =>
    (await bench.service.search({ agent, query, ...(places === undefined ? {} : { in: places }) })).items;

  const blocks = await search(["blocks"]);
  expect(blocks.map(({ block, text }) => [block, text])).toEqual([
    [{ name: "project" }, "a harbour for all"],
    [{ name: "here", conversation: id }, "the harbour of this talk"],
  ]);
  expect((await search(["memories"])).map(({ memory, text }) => [memory !== undefined, text])).toEqual([
    [true, "The harbour freezes."],
  ]);
  const messages = await search(["messages"]);
  expect(messages.every(({ entry }) => entry !== undefined && entry.kind !== "block")).toBe(true);
  expect(messages.map(({ text }) => text)).toEqual(
    expect.arrayContaining(["Note the harbour.", "The harbour is noted."]),
  );
  const everywhere = await search();
  expect(everywhere).toHaveLength(blocks.length + 1 + messages.length);
  const scores = everywhere.map(({ score }) => score);
  expect(scores).toEqual(scores.toSorted((one, other) => other - one));
  // The first of every list stands before the second of any.
  expect(
    everywhere.slice(0, 3).map((hit) => ["entry", "memory", "block"].find((kind) => kind in hit)),
  ).toEqual(expect.arrayContaining(["entry", "memory", "block"]));
  expect(await search(undefined, "glacier")).toEqual([]);
});
