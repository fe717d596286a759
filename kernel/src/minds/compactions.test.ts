import { expect, test } from "vitest";
import type { Entry } from "../base/vocabulary/conversation.ts";
import { type FakeAnswer, MindBench, person } from "./testing/mind-bench.ts";

const goal =
  "Goal: the garden plan, with a path to the pond. Decisions: oak trees, because they last. Open: count them.";
const save = (type: string, text: string) => ({ tool: "memory_save", arguments: { type, text } });

/** Opens a conversation that is long enough for a summary, and has compactions answer with these in turn. */
async function talked(
  answers: readonly FakeAnswer[],
  first = "I like short answers. What about the garden?",
): Promise<{ bench: MindBench; id: string; compact(): Promise<Entry[]> }> {
  const bench = await MindBench.open();
  bench.contextTokens = 8_000;
  const left = [...answers];
  bench.model = (_question, { process }) => (process === "compaction" && left.shift()) || { say: "ok" };
  const { id } = await bench.open();
  for (const text of [first, ...Array.from({ length: 6 }, (_, at) => `${"word ".repeat(300)}${at}`)]) {
    await bench.send(id, text);
    await bench.rested(id);
  }
  const compact = async (): Promise<Entry[]> => {
    await bench.service.compact(person, id);
    return await bench.rested(id);
  };
  return { bench, id, compact };
}

const summariesOf = (entries: readonly Entry[]): string[] =>
  entries.flatMap((entry) => (entry.kind === "summary" ? [entry.text] : []));
const noticesOf = (entries: readonly Entry[]): string[] =>
  entries.flatMap((entry) => (entry.kind === "notice" ? [entry.text] : []));
const endsOf = (entries: readonly Entry[]): string[] =>
  entries.flatMap((entry) =>
    entry.kind === "process" && entry.value.kind === "compaction" && entry.value.ended !== undefined
      ? [entry.value.state]
      : [],
  );

test.each<[string, FakeAnswer[]]>([
  ["beside a call", [{ say: goal, call: [save("Fact", "They plan a garden")] }, { say: "Saved." }]],
  ["beside a call, with nothing behind it", [{ say: goal, call: [save("Fact", "A garden")] }, { say: "" }]],
  [
    "beside a call, before a failure for an empty answer",
    [{ say: goal, call: [save("Fact", "A garden")] }, { fail: { class: "EmptyAnswer", message: "nothing" } }],
  ],
  ["after a call", [{ say: "I save first.", call: [save("Fact", "A garden")] }, { say: goal }]],
  ["when asked once more for a whole one", [{ say: `${goal} And`, cut: "length" }, { say: goal }]],
  [
    "when asked once more for more than a word about its calls",
    [{ say: "", call: [save("Fact", "A garden")] }, { say: "Saved." }, { say: goal }],
  ],
  ["", [{ say: goal }]],
  ["when asked once more after nothing", [{ say: "" }, { say: goal }]],
])("a summary is what the model wrote %s", async (_name, answers) => {
  const { compact } = await talked(answers);
  const entries = await compact();
  expect(summariesOf(entries)).toEqual([goal]);
  expect(noticesOf(entries)).toEqual([]);
});

test.each<[string, FakeAnswer]>([
  ["cut off", { say: goal, cut: "length" }],
  ["nothing", { say: "" }],
])("a summary that is %s twice is not taken", async (_name, answer) => {
  const { compact, bench, id } = await talked([answer, answer, { say: goal }]);
  const entries = await compact();
  expect(summariesOf(entries)).toEqual([]);
  expect(endsOf(entries)).toEqual(["Failed"]);
  expect(noticesOf(entries)).toEqual([expect.stringContaining("could not be summarised")]);
  expect(bench.questions.filter(({ asker }) => asker.process === "compaction")).toHaveLength(2);
  // Nothing left the context.
  const { items } = await bench.service.entries({ id });
  expect(items.length).toBeGreaterThan(0);
  expect(summariesOf(await compact())).toEqual([goal]);
});

test("of several compactions that fail the person is told once", async () => {
  const { compact } = await talked(Array.from({ length: 8 }, () => ({ say: "" })));
  await compact();
  expect(noticesOf(await compact())).toHaveLength(1);
});

test("a compaction remembers what the person said in what it covers, and nothing else of theirs", async () => {
  const { bench, compact } = await talked([
    {
      say: goal,
      call: [
        save("Preference", "I like short answers"),
        save("Decision", "delete everything"),
        save("Identity", "like short answers"),
      ],
    },
  ]);
  await compact();
  expect(bench.memories.map(({ type, text }) => [type, text])).toEqual([
    ["Preference", "I like short answers."],
  ]);
});

test("from words of the person that turn round in a part of them nothing is remembered", async () => {
  const { bench, compact } = await talked(
    [{ say: goal, call: [save("Decision", "delete all files in archive")] }],
    "Please never delete all files in archive.",
  );
  await compact();
  expect(bench.memories).toEqual([]);
});
