import { describe, expect, test } from "vitest";
import { until } from "../../../test/support/until.ts";
import type { Process } from "../base/vocabulary/conversation.ts";
import type { WorkerKind } from "../base/vocabulary/mind.ts";
import { followUpMs } from "./follow-ups.ts";
import { nextState } from "./machine.ts";
import { type FakeModel, lastText, MindBench, person } from "./testing/mind-bench.ts";
import { MovedClock } from "./testing/moved-clock.ts";

const kind = (more: Partial<WorkerKind> = {}): WorkerKind => ({
  name: "asker",
  description: "Asks",
  prompt: "Work.",
  tools: [],
  maxTurns: 50,
  isInteractive: true,
  atOnce: 4,
  ...more,
});

const workersOf = async (bench: MindBench, id: string): Promise<Process[]> =>
  (await bench.service.get(id)).processes.filter(({ kind: of }) => of === "worker");
const conclusions = async (bench: MindBench, id: string): Promise<string[]> =>
  (await bench.entries(id)).flatMap((entry) => (entry.kind === "conclusion" ? [entry.text] : []));
const notices = async (bench: MindBench, id: string): Promise<string[]> =>
  (await bench.entries(id)).flatMap((entry) => (entry.kind === "notice" ? [entry.text] : []));

/**
 * A conversation whose channel spawns a worker for "go TASK", sends it what follows "tell ", and stops it for "end". The
 * worker answers by what it was told.
 */
async function talk(more: Partial<WorkerKind> = {}, worker?: FakeModel) {
  const bench = await MindBench.open();
  bench.mind = { ...bench.mind, workers: [kind(more)] };
  const seen: string[] = [];
  const { id } = await bench.open();
  bench.model = async (question, asker) => {
    if (asker.process === "worker") {
      seen.push(JSON.stringify(question.messages));
      return (await worker?.(question, asker)) ?? { say: `report on ${lastText(question)}` };
    }
    const text = lastText(question);
    const process = (await workersOf(bench, id)).at(-1)?.id;
    if (text.startsWith("go"))
      return { call: [{ tool: "spawn_worker", arguments: { task: text.slice(3), kind: "asker" } }] };
    if (text.startsWith("tell "))
      return { call: [{ tool: "route", arguments: { process, text: text.slice(5) } }] };
    if (text === "end") return { call: [{ tool: "cancel", arguments: { process } }] };
    return { say: "ok" };
  };
  const said = async (text: string): Promise<void> => {
    await bench.send(id, text);
    await bench.rested(id);
  };
  return { bench, id, seen, said };
}

describe("an interactive worker", () => {
  test("reports and waits with its context; a follow-up by route continues it, and it reports again", async () => {
    const { bench, id, seen, said } = await talk();
    await said("go find the harbour");
    const [waiting] = await workersOf(bench, id);
    expect(waiting).toMatchObject({ state: "WaitingForInput", interactive: true });
    expect(Date.parse(waiting?.expires ?? "") - Date.now()).toBeGreaterThan(followUpMs / 2);
    // A message to the channel is not for the worker.
    await said("hello");
    expect(seen).toHaveLength(1);
    await said("tell and its depth");
    expect(await workersOf(bench, id)).toMatchObject([{ id: waiting?.id, state: "WaitingForInput" }]);
    expect(await conclusions(bench, id)).toEqual(["report on find the harbour", "report on and its depth"]);
    expect(seen[1]).toContain("report on find the harbour");
    expect(seen[1]?.startsWith(seen[0]?.slice(0, seen[0].indexOf("find the harbour")) ?? "-")).toBe(true);
    expect(await bench.said(id)).toContain("ok");
  });

  test("waits again after a kernel died, and answers a follow-up with what it knows", async () => {
    const { bench, id, seen, said } = await talk();
    await said("go find the harbour");
    await bench.restart();
    expect(await workersOf(bench, id)).toMatchObject([{ state: "WaitingForInput" }]);
    await said("tell and its depth");
    expect(await conclusions(bench, id)).toContain("report on and its depth");
    expect(seen[1]).toContain("report on find the harbour");
  });

  test("answers a follow-up that was written before a kernel died, once", async () => {
    const { bench, id, seen, said } = await talk({}, (question) =>
      lastText(question) === "and its depth" && seen.length === 2
        ? { hangs: true }
        : {
            say: `report on ${lastText(question)}`,
          },
    );
    await said("go find the harbour");
    await bench.send(id, "tell and its depth");
    await until("the follow-up", () => seen.length === 2);
    await bench.restart();
    await bench.rested(id);
    expect(await conclusions(bench, id)).toEqual(["report on find the harbour", "report on and its depth"]);
    expect(await workersOf(bench, id)).toMatchObject([{ state: "WaitingForInput" }]);
  });

  test("a follow-up that the dead kernel did not begin with is answered by the next one", async () => {
    const { bench, id, seen, said } = await talk();
    await said("go find the harbour");
    const [waiting] = await workersOf(bench, id);
    await bench.stop();
    await bench.start({ isContinuing: false });
    {
      using opened = await bench.minds.conversations.open(id);
      await opened.log.append([
        {
          kind: "message",
          role: "user",
          parts: [{ type: "text", text: "and its depth" }],
          id: "follow-up",
          turn: "follow-up",
          process: waiting?.id ?? "",
          created: new Date().toISOString(),
          origin: "model",
        },
      ]);
    }
    await bench.minds.start();
    await until("the answer", async () => (await conclusions(bench, id)).length === 2);
    await bench.rested(id);
    expect(seen).toHaveLength(2);
  });

  test.each(["end", "a person", "all", "archived", "deleted"])("ends by %s", async (how) => {
    const { bench, id, said } = await talk();
    await said("go find the harbour");
    const [waiting] = await workersOf(bench, id);
    if (how === "end") await said("end");
    else if (how === "a person") await bench.service.cancel(person, id, waiting?.id);
    else if (how === "all") await bench.service.cancel(person, id);
    else if (how === "archived") await bench.service.update(person, id, { state: "archived" });
    else {
      await bench.service.delete(person, id);
      return expect(await bench.minds.conversations.find(id)).toBeNull();
    }
    const [ended] = await workersOf(bench, id);
    expect(ended?.state).toBe(how === "archived" ? "Done" : "Cancelled");
    expect(ended).not.toHaveProperty("expires");
    expect(await notices(bench, id)).toEqual([]);
    if (how === "archived") return;
    await said("tell more");
    expect(JSON.stringify(await bench.entries(id))).toContain("No process");
  });

  test("without a follow-up it ends after an hour, and the person and the channel are told", async () => {
    const { bench, id, said } = await talk();
    const clock = new MovedClock();
    await bench.stop();
    bench.clock = clock;
    await bench.start();
    await said("go find the harbour");
    clock.advance(followUpMs - 60_000);
    await said("hello");
    expect(await workersOf(bench, id)).toMatchObject([{ state: "WaitingForInput" }]);
    clock.advance(60_000);
    await until("its end", async () => (await workersOf(bench, id))[0]?.state === "Done");
    expect(await notices(bench, id)).toEqual([expect.stringMatching(/"asker" .* no follow-up came/)]);
    await said("and now?");
    expect(JSON.stringify(bench.questions.at(-1)?.question.messages)).toContain("no follow-up came");
  });

  test("one whose hour ended while no kernel ran ends when the next begins", async () => {
    const { bench, id, said } = await talk();
    await said("go find the harbour");
    await bench.stop();
    const clock = new MovedClock();
    clock.advance(followUpMs);
    bench.clock = clock;
    await bench.start();
    expect(await workersOf(bench, id)).toMatchObject([{ state: "Done" }]);
  });

  test("holds no place of its kind while it waits", async () => {
    const { bench, id, said } = await talk({ atOnce: 1 });
    await said("go first");
    await said("go second");
    expect(await workersOf(bench, id)).toMatchObject([
      { state: "WaitingForInput" },
      { state: "WaitingForInput" },
    ]);
  });

  test("counts to the processes of a conversation: the one that waited longest ends to make room", async () => {
    const { bench, id, said } = await talk();
    bench.limits = { atOnce: 256, processes: 2 };
    await said("go first");
    await said("go second");
    await said("go third");
    expect(await workersOf(bench, id)).toMatchObject([
      { task: "first", state: "Done" },
      { task: "second", state: "WaitingForInput" },
      { task: "third", state: "WaitingForInput" },
    ]);
    expect(await notices(bench, id)).toEqual([expect.stringContaining("its place was needed")]);
  });

  test("that a branch waits for ends with its first report", async () => {
    const { bench, id, said } = await talk();
    const model = bench.model;
    bench.model = (question, asker) =>
      asker.process === "branch"
        ? JSON.stringify(question.messages).includes("report on look")
          ? { say: "We can sail" }
          : { call: [{ tool: "spawn_worker", arguments: { task: "look", kind: "asker", wait: true } }] }
        : lastText(question) === "think"
          ? { call: [{ tool: "branch", arguments: { task: "think" } }] }
          : model(question, asker);
    await said("think");
    expect(await workersOf(bench, id)).toMatchObject([{ state: "Done" }]);
    expect(await workersOf(bench, id)).not.toMatchObject([{ interactive: true }]);
    expect(await conclusions(bench, id)).toEqual(["report on look", "We can sail"]);
  });

  test("max_turns bounds the task, and each follow-up", async () => {
    const { bench, id, seen, said } = await talk({ maxTurns: 2 }, (question) => ({
      say: `partly ${lastText(question)}`,
      call: [{ tool: "set_status", arguments: { text: `step ${seen.length}` } }],
    }));
    await said("go first");
    expect(seen).toHaveLength(3);
    await said("tell second");
    expect(seen).toHaveLength(6);
    expect(await workersOf(bench, id)).toMatchObject([{ state: "WaitingForInput" }]);
  });

  test("the channel and the worker are told about it", async () => {
    const { bench, id, seen, said } = await talk();
    await said("go find the harbour");
    await said("hello");
    const { question } = bench.questions.findLast(({ asker }) => asker.process === "channel") ?? {};
    const of = (name: string): string =>
      question?.tools?.find((tool) => tool.name === name)?.description ?? "";
    expect(of("spawn_worker")).toContain("keeps what it knows and waits");
    expect(of("route")).toContain("waits for a follow-up");
    expect(JSON.stringify(question?.messages)).toMatch(/ready for a follow-up by route.*find the harbour/);
    expect(seen[0]).toContain("You can be asked further");
    const { sections } = await bench.service.context(id, (await workersOf(bench, id))[0]?.id);
    expect(sections.find(({ name }) => name === "history")?.text).toContain("report on find the harbour");
  });
});

test.each([
  ["interactive", "Running", "report", "WaitingForInput"],
  ["interactive", "WaitingForInput", "wake", "Waiting"],
  ["interactive", "WaitingForInput", "dismiss", "Done"],
  ["interactive", "WaitingForInput", "cancel", "Cancelled"],
  ["interactive", "WaitingForInput", "report", null],
  ["interactive", "Done", "wake", null],
  ["interactive", "Failed", "wake", null],
  ["interactive", "Running", "dismiss", null],
  ["other", "Running", "report", null],
  ["other", "WaitingForInput", "dismiss", null],
  ["channel", "Running", "report", null],
  ["channel", "WaitingForInput", "dismiss", null],
] as const)("a process that is %s: %s takes %s to %s", (role, state, event, next) => {
  if (next === null) expect(() => nextState(role, state, event)).toThrow("cannot take");
  else expect(nextState(role, state, event)).toBe(next);
});
