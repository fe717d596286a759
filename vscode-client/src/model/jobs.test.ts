import { expect, it } from "vitest";
import type { KernelState } from "../kernel/kernel.ts";
import type { Agent } from "../protocol.ts";
import { agent, job } from "../testing/things.ts";
import { EventEmitter } from "../testing/vscode.ts";
import { FakeWire, settled } from "../testing/wire.ts";
import { KernelJobs, maxJobs } from "./jobs.ts";

function start(...ids: string[]) {
  const wire = new FakeWire<KernelState>({ kind: "running" });
  const changed = new EventEmitter<void>();
  const agents = {
    all: ids.map((id) => agent({ id })) as readonly Agent[],
    get: (id: string) => agents.all.find((one) => one.id === id),
    onDidChange: changed.event,
  };
  const model = new KernelJobs(wire, agents);
  const heard = { times: 0 };
  model.onDidChange(() => (heard.times += 1));
  return {
    wire,
    model,
    heard,
    setAgents(...now: string[]): void {
      agents.all = now.map((id) => agent({ id }));
      changed.fire();
    },
    asked: (): unknown[] => wire.asked.map(({ params }) => params),
  };
}

const one = (id: string) => ({ items: [job({ id })], total: 1 });
type JobList = ReturnType<typeof one>;
const none: JobList = { items: [], total: 0 };
const noJobs = { ...none, dead: none };

/** Answers both requests about an agent. */
async function answer(wire: FakeWire<KernelState>, jobs: JobList, dead: JobList = none): Promise<void> {
  await wire.answer("lares/jobs/list", jobs);
  await wire.answer("lares/jobs/list", dead);
}

it("nothing is requested before a view is visible; then one agent after the other, each for a bounded number", async () => {
  const { wire, model, asked } = start("a", "b");
  expect(asked()).toEqual([]);
  model.watch(true);
  expect(asked()).toEqual([{ agent: "a", limit: maxJobs }]);
  await answer(wire, one("1"));
  expect(model.of("a").items[0]?.id).toBe("1");
  expect(asked()).toEqual([{ agent: "b", limit: maxJobs }]);
  await answer(wire, none);
  expect([asked(), model.of("b"), model.of("absent")]).toEqual([[], noJobs, noJobs]);
  model.dispose();
});

it("changes during a request cause one more request; without a visible view, only when one becomes visible", async () => {
  const { wire, model, asked } = start("a");
  model.watch(true);
  for (let n = 0; n < 100; n++) wire.tell("lares/jobs/changed", { agent: "a" });
  wire.tell("lares/jobs/changed", { agent: "absent" });
  await answer(wire, one("1"));
  await answer(wire, one("2"));
  expect([asked(), model.of("a").items[0]?.id]).toEqual([[], "2"]);
  model.watch(false);
  wire.tell("lares/jobs/changed", { agent: "a" });
  expect(asked()).toEqual([]);
  model.watch(true);
  expect(asked()).toHaveLength(1);
  model.dispose();
});

it("new agents' jobs are requested, removed agents' are forgotten", async () => {
  const { wire, model, setAgents } = start("a");
  model.watch(true);
  await answer(wire, one("1"));
  setAgents("b");
  expect(model.of("a")).toEqual(noJobs);
  await answer(wire, one("2"));
  expect(model.of("b").total).toBe(1);
  model.dispose();
});

it("a missing kernel is not asked; the next one is, for all; one without the request is not asked again", async () => {
  const { wire, model, asked } = start("a", "b");
  model.watch(true);
  wire.become({ kind: "restarting", inMs: 1, reason: "" });
  await wire.refuse("lares/jobs/list", "gone");
  expect(asked()).toEqual([]);
  wire.become({ kind: "running" });
  await answer(wire, one("1"));
  await answer(wire, one("2"));
  expect([model.of("a").total, model.of("b").total]).toEqual([1, 1]);
  wire.tell("lares/jobs/changed", { agent: "a" });
  await wire.refuse("lares/jobs/list", "no such request", -32601);
  expect(asked()).toEqual([]);
  wire.become({ kind: "failed", reason: "" });
  expect(model.of("a")).toEqual(noJobs);
  model.dispose();
});

it("agents without jobs cause no redraw", async () => {
  const { wire, model, heard } = start("a", "b");
  model.watch(true);
  await answer(wire, none);
  await answer(wire, none);
  await settled();
  expect(heard.times).toBe(0);
  model.dispose();
});

it("dead jobs are requested after the others, and cause a redraw when they come and go", async () => {
  const { wire, model, heard, asked } = start("a");
  model.watch(true);
  await wire.answer("lares/jobs/list", none);
  expect(asked()).toEqual([{ agent: "a", state: "dead", limit: maxJobs }]);
  await wire.answer("lares/jobs/list", one("1"));
  await settled();
  expect([model.of("a").total, model.of("a").dead.items[0]?.id, heard.times]).toEqual([0, "1", 1]);
  wire.tell("lares/jobs/changed", { agent: "a" });
  await answer(wire, none);
  await settled();
  expect(model.of("a")).toEqual(noJobs);
  await expect.poll(() => heard.times).toBe(2);
  model.dispose();
});
