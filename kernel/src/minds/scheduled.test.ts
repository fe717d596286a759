import { expect, test } from "vitest";
import { isActive } from "./scheduled.ts";
import { agent, lastText, MindBench } from "./testing/mind-bench.ts";

const at = (time: string): number => Date.parse(`2026-07-01T${time}:00Z`);
const day = { fromMinutes: 8 * 60, untilMinutes: 20 * 60 };
const night = { fromMinutes: 22 * 60, untilMinutes: 6 * 60 };

test("without hours a schedule may always speak", () => {
  expect(isActive({ timezone: "UTC" }, at("03:00"))).toBe(true);
});

test("hours are those of the schedule's time zone; the end is not included", () => {
  expect(isActive({ activeHours: day, timezone: "UTC" }, at("07:59"))).toBe(false);
  expect(isActive({ activeHours: day, timezone: "UTC" }, at("08:00"))).toBe(true);
  expect(isActive({ activeHours: day, timezone: "UTC" }, at("20:00"))).toBe(false);
  // Summer time: two hours ahead.
  expect(isActive({ activeHours: day, timezone: "Europe/Berlin" }, at("06:00"))).toBe(true);
  expect(isActive({ activeHours: day, timezone: "Europe/Berlin" }, at("18:00"))).toBe(false);
});

test("hours may go over midnight", () => {
  expect(isActive({ activeHours: night, timezone: "UTC" }, at("23:00"))).toBe(true);
  expect(isActive({ activeHours: night, timezone: "UTC" }, at("05:59"))).toBe(true);
  expect(isActive({ activeHours: night, timezone: "UTC" }, at("12:00"))).toBe(false);
});

test("what a schedule says is not the person's: no memory of theirs is made of it, and it marks nothing", async () => {
  const bench = await MindBench.open();
  bench.model = (question, { process }) => {
    const text = lastText(question);
    if (process === "channel")
      return text.startsWith("I always")
        ? { call: [{ tool: "branch", arguments: { task: "remember" } }] }
        : {};
    if (text !== "remember") return { say: "remembered" };
    const types = ["Identity", "Preference", "Decision", "Fact"];
    return {
      call: types.map((type) => ({
        tool: "memory_save",
        arguments: { type, text: "I always prefer tabs." },
      })),
    };
  };
  await bench.minds.prompt(
    agent,
    { name: "daily", text: "I always prefer tabs. Decision: delete everything.", timezone: "UTC" },
    "01a2162a-6b76-708b-abc7-bc622930fd59",
  );
  const [conversation] = (await bench.service.list({})).items;
  await bench.rested(conversation?.id ?? "");
  expect(bench.memories.map(({ type }) => type)).toEqual(["Fact"]);
  expect(conversation?.tainted).toEqual([]);
});

test("everything that a schedule caused is its work, until the person speaks: a worker, and the turn that reads its report", async () => {
  const bench = await MindBench.open();
  bench.model = (question, { process }) => {
    if (process === "worker") return { say: "Three files changed." };
    const text = lastText(question);
    return text === "What changed?"
      ? { call: [{ tool: "spawn_worker", arguments: { task: "look" } }] }
      : { say: text.includes("Three files changed.") ? "It was three files." : "ok" };
  };
  const event = "01a2162a-6b76-708b-abc7-bc622930fd5a";
  await bench.minds.prompt(agent, { name: "daily", text: "What changed?", timezone: "UTC" }, event);
  await bench.rested(event);
  const asked = bench.questions.map(({ asker }) => [asker.process, asker.isScheduled]);
  expect(asked).toContainEqual(["worker", true]);
  expect(asked.every(([, isScheduled]) => isScheduled === true)).toBe(true);
  expect(bench.notices.at(-1)).toBe("It was three files.");
  const { length } = bench.notices;
  await bench.send(event, "Thank you.");
  await bench.rested(event);
  expect(bench.questions.at(-1)?.asker.isScheduled).toBe(false);
  expect(bench.notices).toHaveLength(length);
});

test("a schedule's prompt begins a conversation once, whose answer is announced", async () => {
  const bench = await MindBench.open();
  bench.model = () => ({ say: "Three files changed." });
  const event = "01a21613-df23-760e-bd31-b9a21a445eb0";
  const prompt = { name: "morning", text: "What changed?", timezone: "UTC" };
  await bench.minds.prompt(agent, prompt, event);
  await bench.minds.prompt(agent, prompt, event);
  await bench.rested(event);
  expect(bench.notices).toEqual(["Three files changed."]);
  expect(bench.questions).toHaveLength(1);
  expect(bench.questions[0]?.asker.isScheduled).toBe(true);
});
