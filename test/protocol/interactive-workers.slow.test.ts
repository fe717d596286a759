import { afterAll, beforeAll, expect, test } from "vitest";
import type { Process } from "../../kernel/src/base/vocabulary/conversation.ts";
import { answersIn, HostileMind, MIND, resultsOf } from "../support/hostile-mind.ts";
import { until } from "../support/until.ts";

let mind: HostileMind;

beforeAll(async () => {
  mind = await HostileMind.open({
    mind: {
      workers: {
        asker: { description: "Asks", prompt: "prompts/worker.md", tools: [], interactive: true },
      },
    },
    lares: { conversations: { processes: 2 } },
  });
});
afterAll(() => mind[Symbol.asyncDispose]());

const spawn = (task: string) => ({
  calls: [{ name: "spawn_worker", given: { task, kind: "asker" } }],
});
const route = (process: string, text: string) => ({ calls: [{ name: "route", given: { process, text } }] });
const workersOf = async (id: string): Promise<Process[]> =>
  (await mind.get(id)).processes.filter(({ kind }) => kind === "worker");
const reports = async (id: string): Promise<string[]> =>
  (await mind.entries(id)).flatMap((entry) => (entry.kind === "conclusion" ? [entry.text] : []));

/** A conversation with a worker that has asked for the colour. */
async function asking(): Promise<{ id: string; worker: string }> {
  const id = await mind.attack([spawn("paint the fence"), { say: "A worker paints." }, { say: "Which?" }], {
    worker: [{ say: "Which colour?" }],
  });
  await until("the question", async () => answersIn(await mind.entries(id)).includes("Which?"));
  await mind.rested(id);
  const [worker] = await workersOf(id);
  expect(worker).toMatchObject({ state: "WaitingForInput", interactive: true });
  return { id, worker: worker?.id ?? "" };
}

test("a worker asks, waits over the death of its kernel, and answers a follow-up with what it knew", async () => {
  const { id, worker } = await asking();
  const { pid } = await mind.bench.status(mind.client);
  await mind.bench.kill(pid);
  await until("the next kernel", async () => (await mind.bench.status(mind.client)).pid !== pid);
  expect(await workersOf(id)).toMatchObject([{ id: worker, state: "WaitingForInput" }]);
  await mind.next(id, [route(worker, "Green"), { say: "Told." }, { say: "It is green." }], {
    worker: [{ say: "Painted green." }],
  });
  await until("the report", async () => answersIn(await mind.entries(id)).includes("It is green."));
  await mind.rested(id);
  expect(await reports(id)).toEqual(["Which colour?", "Painted green."]);
  const asked = mind.requests.find(({ kind }) => kind === "worker")?.text ?? "";
  for (const known of ["paint the fence", "Which colour?", "Green"]) expect(asked).toContain(known);
});

test("a person stops it, and it takes no follow-up any more", async () => {
  const { id, worker } = await asking();
  await mind.client.request("lares/conversations/cancel", { id, process: worker });
  expect(await workersOf(id)).toMatchObject([{ state: "Cancelled" }]);
  await mind.next(id, [route(worker, "Green"), { say: "It is gone." }]);
  await mind.rested(id, ["WaitingForInput", "Cancelled"]);
  expect(resultsOf(await mind.entries(id)).at(-1)).toMatchObject({ status: "error" });
});

test("nothing waits on in a conversation that is stopped or archived", async () => {
  const stopped = await asking();
  await mind.client.request("lares/conversations/cancel", { id: stopped.id });
  expect(await workersOf(stopped.id)).toMatchObject([{ state: "Cancelled" }]);
  const archived = await asking();
  await mind.client.request("lares/conversations/update", { id: archived.id, state: "archived" });
  expect(await workersOf(archived.id)).toMatchObject([{ state: "Done" }]);
});

test("the one that waited longest makes room, and the person is told", async () => {
  const { id } = await asking();
  for (const task of ["paint the gate", "paint the door"]) {
    const asked = async (): Promise<number> =>
      answersIn(await mind.entries(id)).filter((text) => text === "Which?").length;
    const before = await asked();
    await mind.next(id, [spawn(task), { say: "Another paints." }, { say: "Which?" }], {
      worker: [{ say: "Which one?" }],
    });
    await until("the question", async () => (await asked()) === before + 1);
    await mind.rested(id);
  }
  expect(await workersOf(id)).toMatchObject([
    { state: "Done", task: "paint the fence" },
    { state: "WaitingForInput" },
    { state: "WaitingForInput" },
  ]);
  const notices = (await mind.entries(id)).filter(({ kind }) => kind === "notice");
  expect(JSON.stringify(notices)).toContain("its place was needed");
  expect(await mind.client.request("lares/conversations/list", { agent: MIND })).toBeDefined();
});
