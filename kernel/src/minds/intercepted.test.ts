import { expect, test } from "vitest";
import { type MindInterception, noInterception } from "../base/vocabulary/interception.ts";
import { lastText, MindBench, person } from "./testing/mind-bench.ts";
import { recallingBranch } from "./testing/recalling-branch.ts";
import { until } from "../../../test/support/until.ts";

const own = { by: "dev.guard", origin: "agent:dev.guard", isTainted: false } as const;
const web = { by: "dev.guard", origin: "web", isTainted: true, sources: ["agent:dev.guard"] } as const;

async function benchWith(intercept: Partial<MindInterception>): Promise<MindBench> {
  const bench = await MindBench.open();
  bench.intercept = { ...noInterception, ...intercept };
  await bench.restart();
  return bench;
}

test("no request reads a message before the extensions were asked, also while the channel works", async () => {
  const asked: string[] = [];
  const answers: ((text: string) => void)[] = [];
  const bench = await benchWith({
    isAsked: () => true,
    userInput: async (_place, text) => {
      asked.push(text);
      return [{ ...own, value: await new Promise<string>((resolve) => answers.push(resolve)) }];
    },
  });
  const { promise: first, resolve: go } = Promise.withResolvers<void>();
  bench.model = async (question) => {
    if (bench.questions.length === 1) await first;
    return { say: `answer to ${lastText(question)}` };
  };
  const { id } = await bench.open();
  await bench.send(id, "one");
  await until("the question", () => asked.length === 1);
  answers[0]?.("ONE");
  await until("the first request", () => bench.questions.length === 1);
  await bench.send(id, "two");
  await until("the next question", () => asked.length === 2);
  go();
  await until("the first answer", async () => (await bench.said(id)).length === 1);
  expect(bench.questions).toHaveLength(1);
  answers[1]?.("TWO");
  await until("the second answer", async () => (await bench.said(id)).length === 2);
  await bench.rested(id);
  expect(await bench.said(id)).toEqual(["answer to ONE", "answer to TWO"]);
  expect(await bench.said(id, "user")).toEqual(["one", "ONE", "two", "TWO"]);
  // What the extensions left of its first message is the conversation's title.
  expect((await bench.service.get(id)).title).toBe("ONE");
});

test("a kernel that dies before the answer asks again, and the original is read by nobody", async () => {
  let asked = 0;
  const bench = await benchWith({
    isAsked: () => true,
    userInput: async () =>
      ++asked === 1 ? await new Promise<never>(() => undefined) : [{ ...own, value: "changed" }],
  });
  bench.model = (question) => ({ say: `answer to ${lastText(question)}` });
  const { id } = await bench.open();
  await bench.send(id, "original");
  await until("the question", () => asked === 1);
  await bench.restart();
  await bench.send(id, "next");
  await until("the answer", async () => (await bench.said(id)).length > 0);
  await bench.rested(id);
  expect(JSON.stringify(bench.questions)).not.toContain("original");
});

test("a text that was added to a request is at its end, and taints what is made with it", async () => {
  const bench = await benchWith({
    context: async () => [{ ...web, value: ["beware"] }],
  });
  const { id } = await bench.open();
  await bench.send(id, "hello");
  const entries = await bench.rested(id);
  expect(JSON.stringify(bench.questions[0]?.question.messages.at(-1))).toContain("beware");
  expect(entries.find(({ kind }) => kind === "request")).toMatchObject({ by: "dev.guard", tainted: true });
  expect(entries.findLast(({ kind }) => kind === "message")).toMatchObject({
    tainted: true,
    sources: ["agent:dev.guard"],
  });
});

test("a refused call does not run; a changed result inherits the taint and has the id of the original", async () => {
  const bench = await benchWith({
    beforeToolCall: async (_place, { arguments: args }) =>
      JSON.stringify(args).includes("bad") ? { ...own, value: "dev.guard refused it: bad" } : null,
    afterToolCall: async () => [{ ...web, value: { status: "success", value: "changed" } }],
  });
  bench.model = () =>
    bench.questions.length === 1
      ? {
          call: [
            { tool: "files/read", arguments: { path: "bad" } },
            { tool: "files/read", arguments: { path: "good" } },
          ],
        }
      : { say: "done" };
  const { id } = await bench.open();
  await bench.send(id, "go");
  const entries = await bench.rested(id);
  expect(bench.calls).toHaveLength(1);
  const results = entries.filter((entry) => entry.kind === "tool_result");
  expect(results).toMatchObject([
    { origin: "agent:dev.guard", result: { status: "error", message: "dev.guard refused it: bad" } },
    { origin: "workspace", result: { value: "done" } },
    { id: results[1]?.id, by: "dev.guard", origin: "web", tainted: true, result: { value: "changed" } },
  ]);
  const told = JSON.stringify(bench.questions[1]?.question.messages);
  expect(told).toContain("changed");
  expect(told).not.toContain('"done"');
});

test("a summary that is refused is not begun, and the person is told who refused it", async () => {
  const bench = await benchWith({
    beforeCompact: async () => ({ ...own, value: "dev.guard refused it: not now" }),
  });
  bench.contextTokens = 2_000;
  const { id } = await bench.open();
  for (let count = 0; count < 3; count++) {
    await bench.send(id, "these words fill the window ".repeat(60));
    await bench.rested(id);
  }
  await bench.service.compact(person, id);
  const notice = await until("the notice", async () =>
    (await bench.entries(id)).find(({ kind }) => kind === "notice"),
  );
  expect(notice).toMatchObject({
    text: "The conversation was not summarised. dev.guard refused it: not now",
  });
  expect(bench.questions.filter(({ asker }) => asker.process === "compaction")).toEqual([]);
});

test("a compaction that extensions are still asked about does not begin after a stop", async () => {
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  const { promise: answer, resolve: go } = Promise.withResolvers<void>();
  const bench = await benchWith({
    beforeCompact: async () => {
      ask();
      await answer;
      return { instructions: [] };
    },
  });
  bench.contextTokens = 2_000;
  const { id } = await bench.open();
  for (let count = 0; count < 2; count++) {
    await bench.send(id, "these words fill the window ".repeat(40));
    await bench.rested(id);
  }
  void bench.service.compact(person, id).catch(() => undefined);
  await asked;
  await bench.service.cancel(person, id);
  go();
  await bench.rested(id);
  const { processes } = await bench.service.get(id);
  expect(processes.filter(({ kind }) => kind === "compaction")).toEqual([]);
  expect(bench.questions.filter(({ asker }) => asker.process === "compaction")).toEqual([]);
});

test("an extension that is shown a result counts as having read what led to the result", async () => {
  const sources: (readonly string[])[] = [];
  const bench = await benchWith({
    afterToolCall: async (place) => {
      sources.push(place.sources);
      return [];
    },
  });
  bench.recalled = [
    {
      id: "k",
      type: "Fact",
      text: "x",
      created: "2026-11-26T08:00:00.000Z",
      sources: ["web"],
      isTainted: true,
    },
  ];
  bench.model = recallingBranch("x", "done");
  const { id } = await bench.open();
  await bench.send(id, "go");
  await bench.rested(id);
  expect(sources).toEqual([[], ["web"]]);
});
