import { expect, test } from "vitest";
import { memoryForgotten } from "./forgotten-memories.ts";
import { agent, lastText, MindBench, person } from "./testing/mind-bench.ts";

const text = "I like short answers.";

async function withBulletin(isRecalling: boolean): Promise<MindBench> {
  const bench = await MindBench.open();
  bench.recalled = [{ id: "k1", type: "Preference", text, created: "", sources: [], isTainted: false }];
  bench.model = (question, { process }) => {
    if (process !== "cortex") return { say: "ok" };
    return !isRecalling || lastText(question).includes("k1")
      ? { say: "They are brief." }
      : { call: [{ tool: "memory_recall", arguments: { query: "the person" } }] };
  };
  const { id } = await bench.open();
  await bench.send(id, `Remember: ${text}`);
  await bench.rested(id);
  await bench.minds.cortex.run(agent);
  return bench;
}

const bulletin = async (bench: MindBench): Promise<string | undefined> =>
  (await bench.minds.ports.blocks.ofMind(agent)).get("bulletin");

test("a bulletin that was written from a forgotten memory is emptied, and stays so after a restart", async () => {
  const bench = await withBulletin(true);
  expect(await bulletin(bench)).toBe("They are brief.");
  expect(await memoryForgotten(bench.minds, agent, { id: "k1", text })).toMatchObject({ bulletin: true });
  await bench.restart();
  expect(await bulletin(bench)).toBe("");
});

test("a bulletin that has nothing of the memory stays", async () => {
  const bench = await withBulletin(false);
  expect(await memoryForgotten(bench.minds, agent, { id: "k1", text })).not.toHaveProperty("bulletin");
  expect(await bulletin(bench)).toBe("They are brief.");
});

test("the conversations and blocks that have the text word by word are named, until it is removed there", async () => {
  const bench = await withBulletin(false);
  await bench.service.editBlock(person, { agent, name: "project", text: `About the person: ${text}` });
  const { conversations = [], blocks } = await memoryForgotten(bench.minds, agent, { id: "k1", text });
  expect(blocks).toEqual(["project"]);
  expect(conversations).toEqual([{ id: expect.any(String) as string, title: expect.any(String) as string }]);
  await bench.service.redact(person, { id: conversations[0]?.id ?? "", text });
  expect(await memoryForgotten(bench.minds, agent, { id: "k1", text })).not.toHaveProperty("conversations");
});
