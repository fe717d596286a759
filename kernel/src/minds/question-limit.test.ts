import { expect, test } from "vitest";
import { until } from "../../../test/support/until.ts";
import type { Ask } from "../base/vocabulary/ask.ts";
import { agent, lastText, MindBench, person } from "./testing/mind-bench.ts";

const numbers = [1, 2, 3, 4, 5];
const blockOf = (n: number) => ({
  name: `b${n}`,
  description: "A block",
  limitCharacters: 100,
  isReadOnly: false,
  scope: "mind" as const,
});
const edit = (n: number, text = `text ${n}`) => ({
  tool: "block_edit",
  arguments: { name: `b${n}`, replace: text },
});
const plan = (n: number) => ({
  tool: "schedule",
  arguments: { op: "add", prompt: `prompt ${n}`, cron: `${n} 8 * * *`, timezone: "UTC" },
});
type Call = ReturnType<typeof edit | typeof plan>;

/** A conversation from whose texts a person has to accept what is kept, and which makes these calls at once. */
async function made(calls: readonly Call[]): Promise<{ bench: MindBench; id: string }> {
  const bench = await MindBench.open();
  bench.isScripted = true;
  bench.asksAboutSchedules = true;
  bench.mind = { ...bench.mind, blocks: numbers.map(blockOf) };
  bench.model = (question) => (lastText(question) === "go" ? { call: calls } : { say: "ok" });
  const { id } = await bench.open();
  await bench.send(id, "go");
  await bench.rested(id);
  return { bench, id };
}

/** Waits until so many questions are shown, and returns them. */
const shown = (bench: MindBench, count: number): Promise<readonly Ask[]> =>
  until(`${count} questions`, async () => {
    const pending = await bench.asks.list("Pending");
    return pending.length === count ? pending : null;
  });

async function allowAll(bench: MindBench, count: number): Promise<void> {
  for (let left = count; left > 0; left--) {
    const [ask] = (await shown(bench, Math.min(3, left))).toReversed();
    await bench.asks.answer(person, ask?.id ?? "", { digest: ask?.digest ?? "sha256:", allow: true });
  }
  await shown(bench, 0);
}

const kept = async (bench: MindBench): Promise<ReadonlyMap<string, string>> =>
  await bench.minds.ports.blocks.ofMind(agent);

test("of five edits of blocks three are asked about, the others after these, over a restart too", async () => {
  const { bench, id } = await made(numbers.map((n) => edit(n)));
  const asked = await shown(bench, 3);
  expect(asked.map(({ facts }) => JSON.stringify(facts["block"])).toSorted()).toEqual([
    '"b1"',
    '"b2"',
    '"b3"',
  ]);
  expect((await bench.entries(id)).filter(({ kind }) => kind === "ask")).toHaveLength(5);
  await bench.restart();
  await shown(bench, 3);
  await allowAll(bench, 5);
  await until("all of them to be kept", async () => (await kept(bench)).size === 5);
  expect(Object.fromEntries(await kept(bench))).toEqual(
    Object.fromEntries(numbers.map((n) => [`b${n}`, `text ${n}`])),
  );
});

test("of five schedules three are asked about, the others after these, over a restart too", async () => {
  const { bench } = await made(numbers.map(plan));
  await shown(bench, 3);
  await bench.restart();
  await shown(bench, 3);
  await allowAll(bench, 5);
  const states = (): string[] => (bench.schedules?.of(agent) ?? []).map(({ state }) => state);
  await until("all of them to be accepted", () => states().every((state) => state === "accepted"));
  expect(states()).toHaveLength(5);
});

test("edits of blocks and schedules share the three questions of their conversation, not those of another one", async () => {
  const { bench } = await made([edit(1), plan(1), edit(2), plan(2)]);
  expect((await shown(bench, 3)).map(({ kind }) => kind).toSorted()).toEqual(["block", "block", "schedule"]);
  const other = await bench.open();
  await bench.send(other.id, "go");
  await bench.rested(other.id);
  // The other one's edits are those of the same texts.
  expect((await shown(bench, 6)).filter(({ conversation }) => conversation === other.id)).toHaveLength(3);
});

test("a later text of a block replaces its question while that is unseen, and only the later one is shown", async () => {
  const { bench, id } = await made([...numbers.map((n) => edit(n)), edit(5, "better")]);
  const first = await shown(bench, 3);
  expect(first.map(({ facts }) => facts["block"])).not.toContain("b5");
  await allowAll(bench, 5);
  await until("all of them to be kept", async () => (await kept(bench)).size === 5);
  expect((await kept(bench)).get("b5")).toBe("better");
  expect((await bench.decisions(id)).filter((line) => line.startsWith("ask Expired"))).toHaveLength(1);
});

test("a stop withdraws the unseen questions too, and nothing is kept or scheduled", async () => {
  const { bench, id } = await made([...numbers.map((n) => edit(n)), ...numbers.map(plan)]);
  await shown(bench, 3);
  await bench.service.cancel(person, id);
  await shown(bench, 0);
  await bench.rested(id);
  await until(
    "the ends in the log",
    async () => (await bench.decisions(id)).filter((line) => line.startsWith("ask Expired")).length === 5,
  );
  expect((await kept(bench)).size).toBe(0);
  expect(bench.schedules?.of(agent)).toEqual([]);
  await bench.restart();
  await shown(bench, 0);
});
