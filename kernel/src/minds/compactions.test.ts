import { describe, expect, test, vi } from "vitest";
import { until } from "../../../test/support/until.ts";
import { messageOf, storageError } from "../base/errors.ts";
import { nextTurn } from "../base/next-turn.ts";
import { endedStates, type Entry } from "../base/vocabulary/conversation.ts";
import { systemClock } from "../platform/clock.ts";
import { entryOf } from "./entries.ts";
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

test("what nothing is left of to summarise is not summarised: no model gets an empty conversation", async () => {
  const { bench, compact } = await talked(Array.from({ length: 8 }, () => ({ say: goal })));
  const compactAll = async (): Promise<void> => {
    for (let at = 0; at < 8; at++) await compact();
  };
  await expect(compactAll()).rejects.toThrow("There is nothing to summarise yet.");
  const asked = bench.questions.filter(({ asker }) => asker.process === "compaction");
  expect(asked.length).toBeGreaterThan(0);
  for (const { question } of asked)
    expect(JSON.stringify(question.messages)).toMatch(/The conversation:\\n\[/);
});

test("race: a compaction that was wanted before a stop does not run after it, wherever the stop meets it", async () => {
  for (let turns = 0; turns < 12; turns++) {
    const { bench, id } = await talked([{ hangs: true }]);
    const wanted = bench.service.compact(person, id);
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    await bench.service.cancel(person, id);
    await wanted;
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    const { processes } = await bench.service.get(id);
    expect(processes.filter(({ kind, state }) => kind === "compaction" && !endedStates.has(state))).toEqual(
      [],
    );
    expect(summariesOf(await bench.entries(id))).toEqual([]);
  }
});

test("race: a context that a message and compactions ask for at once is begun once", async () => {
  const bench = await MindBench.open();
  const { id } = await bench.open();
  const stored = await bench.minds.use(id, ({ log }) => Promise.resolve(vi.spyOn(log, "storePrefix")));
  const wanted = Array.from({ length: 3 }, () => bench.service.compact(person, id).catch(messageOf));
  await bench.send(id, "Hello");
  expect(await Promise.all(wanted)).toContain("There is nothing to summarise yet.");
  await bench.rested(id);
  expect(stored).toHaveBeenCalledOnce();
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

describe("a compaction that runs when a kernel dies", () => {
  const asked = (bench: MindBench): number =>
    bench.questions.filter(({ asker }) => asker.process === "compaction").length;

  test("is continued by the next one, as the same process, and covers the same entries", async () => {
    const { bench, id } = await talked([{ hangs: true }, { say: goal }]);
    await bench.service.compact(person, id);
    await until("the request", () => asked(bench) === 1);
    await bench.restart();
    const entries = await bench.rested(id);
    expect(summariesOf(entries)).toEqual([goal]);
    const [first, ...others] = entries.flatMap((entry) =>
      entry.kind === "process" && entry.value.kind === "compaction" ? [entry.value] : [],
    );
    expect(new Set(others.map((process) => process.id))).toEqual(new Set([first?.id]));
    expect(endsOf(entries)).toEqual(["Done"]);
    const [from, to] = entries.flatMap((entry) => (entry.kind === "summary" ? (entry.covers ?? []) : []));
    expect(first?.covers).toEqual([from, to]);
    const requests = entries.filter((entry) => entry.kind === "request" && entry.process === first?.id);
    expect(requests).toHaveLength(2);
    await bench.send(id, "and now?");
    await bench.rested(id);
    expect(JSON.stringify(bench.questions.at(-1)?.question.messages)).toContain(goal);
  });

  test.each([
    ["before", true],
    ["while", false],
  ])(
    "is the only one, or has nothing to do, if a person begins another %s it is continued",
    async (_name, isFirst) => {
      const answers: FakeAnswer[] = [{ hangs: true }, { say: goal }, { say: `${goal} Again.` }];
      const { bench, id } = await talked(answers);
      await bench.service.compact(person, id);
      await until("the request", () => asked(bench) === 1);
      await bench.stop();
      await bench.start({ isContinuing: false });
      const begun = (): Promise<unknown> => bench.service.compact(person, id).catch(messageOf);
      const begins = isFirst ? [begun(), begun()] : [];
      const continues = bench.minds.start();
      if (!isFirst) begins.push(begun(), begun());
      const refusals = await Promise.all(begins);
      await continues;
      expect(refusals).toContain("A compaction of this conversation runs already.");
      const entries = await bench.rested(id);
      expect(summariesOf(entries)).toHaveLength(1);
      expect(noticesOf(entries)).toEqual([]);
      const { processes } = await bench.service.get(id);
      expect(processes.filter(({ ended }) => ended === undefined).map(({ kind }) => kind)).toEqual([
        "channel",
      ]);
    },
  );

  test("keeps its range under a model with a smaller window, and the older summary stays", async () => {
    const first = `${goal} `.repeat(22);
    const { bench, id, compact } = await talked([
      { say: first },
      {
        say: "Goal: the kitchen. Decisions: the oven stays. Open: chairs.",
        call: [save("Fact", "A kitchen")],
      },
      { hangs: true },
      { say: "Saved." },
    ]);
    await compact();
    for (let at = 0; at < 6; at++) {
      await bench.send(id, `${"other ".repeat(300)}${at}`);
      await bench.rested(id);
    }
    await bench.service.compact(person, id);
    await until("the second request", () => asked(bench) === 3);
    await bench.stop();
    bench.contextTokens = 4_000;
    await bench.start();
    const entries = await bench.rested(id);
    bench.contextTokens = 8_000;
    const covers = entries.flatMap((entry) => (entry.kind === "summary" ? [entry.covers] : []));
    expect(covers).toEqual([
      [1, expect.any(Number)],
      [(covers[0]?.[1] ?? 0) + 1, expect.any(Number)],
    ]);
    await bench.send(id, "and now?");
    await bench.rested(id);
    const question = JSON.stringify(bench.questions.at(-1)?.question.messages);
    expect(question).toContain("a path to the pond");
    expect(question).toContain("the oven stays");
  });

  test("knows what its model has answered, and saves nothing twice", async () => {
    const { bench, id } = await talked([
      { say: goal, call: [save("Fact", "They plan a garden")] },
      { hangs: true },
      { say: "Saved." },
    ]);
    await bench.service.compact(person, id);
    await until("the second request", () => asked(bench) === 2);
    await bench.restart();
    const entries = await bench.rested(id);
    expect(summariesOf(entries)).toEqual([goal]);
    expect(bench.memories).toHaveLength(1);
    expect(asked(bench)).toBe(3);
  });

  test("is not continued after a stop", async () => {
    const { bench, id } = await talked([{ hangs: true }, { say: goal }]);
    await bench.service.compact(person, id);
    await until("the request", () => asked(bench) === 1);
    await bench.stop();
    await bench.start({ isContinuing: false });
    await bench.service.cancel(person, id);
    await bench.minds.start();
    const entries = await bench.rested(id);
    expect(summariesOf(entries)).toEqual([]);
    expect(endsOf(entries)).toEqual(["Cancelled"]);
    expect(asked(bench)).toBe(1);
  });

  test("of a worker continues with it", async () => {
    const bench = await MindBench.open();
    bench.contextTokens = 8_000;
    bench.counts = true;
    let hangs = 1;
    let calls = 0;
    bench.tool = () => ({ status: "success", value: "word ".repeat(150) });
    bench.model = (question, { process }) => {
      if (process === "channel")
        return bench.questions.length === 1
          ? { call: [{ tool: "spawn_worker", arguments: { task: "read all" } }] }
          : { say: "ok" };
      if (process === "compaction") return hangs-- > 0 ? { hangs: true } : { say: goal };
      if (JSON.stringify(question.messages).includes(goal)) return { say: "read" };
      return { call: [{ tool: "files/read", arguments: { path: `${(calls += 1)}` } }] };
    };
    const { id } = await bench.open();
    await bench.send(id, "go");
    await until("the compaction", () => hangs === 0);
    await bench.restart();
    const entries = await bench.rested(id);
    expect(summariesOf(entries)).toEqual([goal]);
    expect(entries.filter((entry) => entry.kind === "conclusion")).toMatchObject([{ text: "read" }]);
  });

  test("is not continued where an earlier version of Lares left no range: no words are read as one", async () => {
    const { bench, id } = await talked([{ say: goal }]);
    const from = bench.questions.length;
    await bench.minds.use(id, async ({ log }) => {
      const { processes } = log.state;
      const parent = processes.find(({ kind }) => kind === "channel")?.id ?? "";
      await log.append([
        entryOf(
          { process: "old", turn: "", clock: systemClock },
          {
            kind: "process",
            value: {
              id: "old",
              kind: "compaction",
              state: "Running",
              parent,
              task: `Summarise the entries 2 to ${log.state.seq}`,
              started: "2026-11-26T08:00:00.000Z",
            },
          },
          { origin: "workspace" },
        ),
      ]);
    });
    await bench.restart();
    const entries = await bench.rested(id);
    expect(summariesOf(entries)).toEqual([]);
    expect(endsOf(entries)).toEqual(["Cancelled"]);
    expect(bench.questions).toHaveLength(from);
  });
});

describe("a summary that stands in the log, but not in the context", () => {
  const asked = (bench: MindBench): number =>
    bench.questions.filter(({ asker }) => asker.process === "compaction").length;

  /** Compacts while contexts cannot be stored. */
  async function halfDone(): Promise<Awaited<ReturnType<typeof talked>>> {
    const talk = await talked([
      { say: goal },
      { say: "Goal: another summary, which is long enough to be taken." },
    ]);
    const { bench, id } = talk;
    const fullDisk = await bench.minds.use(id, ({ log }) =>
      Promise.resolve(vi.spyOn(log, "storePrefix").mockRejectedValueOnce(storageError("The disk is full."))),
    );
    const entries = await talk.compact();
    expect(fullDisk).toHaveBeenCalledOnce();
    expect(summariesOf(entries)).toEqual([goal]);
    expect(asked(bench)).toBe(1);
    return talk;
  }

  const lastQuestion = async (bench: MindBench, id: string): Promise<string> => {
    await bench.send(id, "and now?");
    await bench.rested(id);
    return JSON.stringify(bench.questions.at(-1)?.question.messages);
  };

  test.each([
    ["the next time, if the disk was full", false],
    ["by the next kernel, if this one died", true],
  ])("is taken %s: no model is asked again, and the log has it once", async (_name, isRestarted) => {
    const { bench, id, compact } = await halfDone();
    expect(await lastQuestion(bench, id)).not.toContain(goal);
    if (isRestarted) await bench.restart();
    expect(summariesOf(await compact())).toEqual([goal]);
    expect(asked(bench)).toBe(1);
    const question = await lastQuestion(bench, id);
    expect(question).toContain(goal);
    expect(question).not.toContain("What about the garden?");
    // It is in the context now, so the next one is new.
    for (let at = 0; at < 6; at++) {
      await bench.send(id, `${"other ".repeat(300)}${at}`);
      await bench.rested(id);
    }
    expect(summariesOf(await compact())).toHaveLength(2);
  });

  test("is not taken once a person has had something of it removed: the rest is summarised again", async () => {
    const { bench, id, compact } = await halfDone();
    const [first] = (await bench.entries(id)).filter((entry) => entry.kind === "message");
    await bench.service.redact(person, { id, entry: first?.id ?? "" });
    expect(summariesOf(await compact()).at(-1)).toMatch(/another summary/);
    expect(asked(bench)).toBe(2);
    expect(await lastQuestion(bench, id)).toContain("another summary");
  });
});
