import { expect, test } from "vitest";
import { person, agent, lastText, MindBench, mind } from "./testing/mind-bench.ts";

const preference = {
  id: "k1",
  type: "Preference",
  text: "I like short answers.",
  created: "2026-01-01T00:00:00.000Z",
  sources: [],
  isTainted: false,
};

/** A mind whose branch recalls, and whose channel answers after it. */
async function recalling(): Promise<{ readonly bench: MindBench; readonly id: string }> {
  const bench = await MindBench.open();
  bench.recalled = [preference];
  bench.model = (question, { process }) => {
    const text = lastText(question);
    if (process === "branch")
      return text.includes("k1")
        ? { say: "The person likes short answers." }
        : { call: [{ tool: "memory_recall", arguments: { query: "answers" } }] };
    if (text === "how do I like it?")
      return { call: [{ tool: "branch", arguments: { task: "what does the person like" } }] };
    return { say: text.includes("short answers") ? "Short." : "ok" };
  };
  const { id } = await bench.open();
  await bench.send(id, "how do I like it?");
  await bench.rested(id);
  return { bench, id };
}

test("an answer names the memories that a branch recalled for it, and what became of them", async () => {
  const { bench, id } = await recalling();
  const why = await bench.service.why({ id });
  expect(why).toMatchObject({ model: "lab/m", summaries: 0, blocks: [] });
  expect(why.memories).toEqual([
    {
      id: "k1",
      type: "Preference",
      text: preference.text,
      query: "answers",
      read: "now",
      state: "remembered",
      present: { id: "k1", text: preference.text },
    },
  ]);
  await bench.send(id, "thanks");
  await bench.rested(id);
  expect((await bench.service.why({ id })).memories).toMatchObject([{ id: "k1", read: "before" }]);
  bench.recalled = [];
  const [gone] = (await bench.service.why({ id, entry: why.entry })).memories;
  expect(gone).toMatchObject({ id: "k1", read: "now", state: "gone" });
  expect(gone).not.toHaveProperty("present");
});

test("an answer names the blocks and the bulletin as they were, also after they have changed and after a restart", async () => {
  const bench = await MindBench.open();
  bench.mind = {
    ...mind,
    blocks: [
      { name: "project", description: "what it is", limitCharacters: 400, isReadOnly: false, scope: "mind" },
    ],
  };
  const edit = (text: string) => bench.service.editBlock(person, { agent, name: "project", text });
  await edit("Photos of 2025");
  const { id } = await bench.open();
  await bench.send(id, "one");
  await bench.rested(id);
  const first = await bench.service.why({ id });
  expect(first.blocks).toEqual([{ name: "project", text: "Photos of 2025", present: true }]);
  await edit("Photos of 2026");
  await bench.send(id, "two");
  await bench.rested(id);
  await bench.restart();
  expect((await bench.service.why({ id })).blocks).toEqual([
    { name: "project", text: "Photos of 2026", present: true },
  ]);
  expect((await bench.service.why({ id, entry: first.entry })).blocks).toEqual([
    { name: "project", text: "Photos of 2025", present: false },
  ]);
});

test("a bulletin leads to the memories that its writer had recalled", async () => {
  const bench = await MindBench.open();
  bench.recalled = [preference];
  bench.model = (question, { process }) => {
    if (process !== "cortex") return { say: "ok" };
    return lastText(question).includes("k1")
      ? { say: "They like it short." }
      : { call: [{ tool: "memory_recall", arguments: { query: "the person" } }] };
  };
  const first = await bench.open();
  await bench.send(first.id, "hello");
  await bench.rested(first.id);
  await bench.minds.cortex.run(agent);
  const { id } = await bench.open();
  await bench.send(id, "hello again");
  await bench.rested(id);
  const why = await bench.service.why({ id });
  expect(why.bulletin).toEqual({ text: "They like it short.", present: true });
  expect(why.memories).toMatchObject([{ id: "k1", read: "bulletin", state: "remembered" }]);
});

test("a message of the person has no reasons, and neither has a conversation without an answer", async () => {
  const bench = await MindBench.open();
  const { id } = await bench.open();
  await expect(bench.service.why({ id })).rejects.toMatchObject({ code: "NotFound" });
  const entry = await bench.send(id, "hello");
  await bench.rested(id);
  await expect(bench.service.why({ id, entry })).rejects.toMatchObject({ code: "InvalidParams" });
});

test("what a person had removed is named only as long as the mind remembers it", async () => {
  const { bench, id } = await recalling();
  await bench.service.redact(person, { id, text: preference.text });
  const [memory] = (await bench.service.why({ id })).memories;
  expect(memory).toMatchObject({ text: "[redacted by the person]", present: { text: preference.text } });
  bench.recalled = [];
  expect((await bench.service.why({ id })).memories).toEqual([]);
});
