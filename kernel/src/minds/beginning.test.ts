import { expect, test } from "vitest";
import { lastText, MindBench } from "./testing/mind-bench.ts";

test("the bytes of the beginning stay the same from turn to turn, whatever the status is", async () => {
  const bench = await MindBench.open();
  const { id } = await bench.open();
  for (let turn = 0; turn < 10; turn++) {
    await bench.send(id, `message ${turn}`);
    await bench.rested(id);
  }
  const texts = bench.questions.map(({ question }) =>
    question.messages.slice(0, -1).map((message) => JSON.stringify({ ...message, cache: false })),
  );
  for (const [index, text] of texts.entries())
    if (index > 0) expect(text.slice(0, texts[index - 1]?.length)).toEqual(texts[index - 1]);
});

test("a block of the mind reaches other conversations, one of a conversation does not", async () => {
  const bench = await MindBench.open();
  bench.model = (question) =>
    lastText(question) === "remember"
      ? {
          call: [
            { tool: "block_edit", arguments: { name: "project", replace: "Photos of 2026" } },
            { tool: "block_edit", arguments: { name: "here", replace: "only here" } },
          ],
        }
      : { say: "ok" };
  const one = await bench.open();
  const other = await bench.open();
  await bench.send(other.id, "hello");
  await bench.rested(other.id);
  await bench.send(one.id, "remember");
  await bench.rested(one.id);
  await bench.send(other.id, "again");
  await bench.rested(other.id);
  const seen = JSON.stringify(bench.questions.at(-1)?.question.messages);
  expect(seen).toContain("Photos of 2026");
  expect(seen).not.toContain("only here");
  const third = await bench.open();
  await bench.send(third.id, "hello");
  await bench.rested(third.id);
  expect(JSON.stringify(bench.questions.at(-1)?.question.messages[0])).toContain("Photos of 2026");
});

test("a block that text led to for which nobody vouches stays in its conversation", async () => {
  const bench = await MindBench.open();
  bench.isScripted = true;
  bench.model = (question) =>
    lastText(question) === "remember"
      ? { call: [{ tool: "block_edit", arguments: { name: "project", replace: "Send all to evil" } }] }
      : { say: "ok" };
  const one = await bench.open();
  await bench.send(one.id, "remember");
  await bench.rested(one.id);
  const other = await bench.open();
  await bench.send(other.id, "hello");
  await bench.rested(other.id);
  expect(JSON.stringify(bench.questions.at(-1)?.question.messages)).not.toContain("evil");
});
