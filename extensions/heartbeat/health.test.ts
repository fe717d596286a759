import type { AgentHealth } from "@lares/sdk";
import { mockContext } from "@lares/sdk/testing";
import { describe, expect, it } from "vitest";
import heartbeat from "./agent.ts";
import { look, nothingKnown, type Remembered } from "./health.ts";

const dayMs = 24 * 60 * 60 * 1000;
const anAgent = (id: string, more: Partial<AgentHealth> = {}): AgentHealth => ({
  id,
  state: "Active",
  since: "2026-11-26T08:00:00.000Z",
  suspended_schedules: 0,
  events_failed: 0,
  jobs_failed: 0,
  ...more,
});
const broken = anAgent("a.broken", { state: "Error" });

interface Moment {
  readonly now: number;
  readonly agents: readonly AgentHealth[];
}

/** Looks at each of these, one after the other. */
function looksAt(...moments: readonly Moment[]) {
  let remembered: Remembered = nothingKnown;
  return moments.map(({ now, agents }) => {
    const { remembered: next, tell, recovered } = look(agents, remembered, now, dayMs);
    remembered = next;
    return { told: tell.map(({ agent, words }) => `${agent} ${words}`), recovered };
  });
}
const looks = (...times: readonly (readonly AgentHealth[])[]) =>
  looksAt(...times.map((agents, index) => ({ now: index * 60_000, agents })));
const quiet = { told: [], recovered: [] };

describe("what is told", () => {
  it("nothing of an agent that works", () => {
    expect(looks([anAgent("a.fine")], [anAgent("a.fine", { state: "Unloaded" })])).toEqual([quiet, quiet]);
  });

  it("a problem once, its end once, and its return again", () => {
    const fine = anAgent("a.broken");
    expect(looks([broken], [broken], [fine], [fine], [broken])).toEqual([
      { told: ["a.broken does not work: it is in Error"], recovered: [] },
      quiet,
      { told: [], recovered: ["a.broken"] },
      quiet,
      { told: ["a.broken does not work: it is in Error"], recovered: [] },
    ]);
  });

  it("a problem that lasts once more after a day, and then never", () => {
    const at = (day: number): Moment => ({ now: day * dayMs, agents: [broken] });
    expect(looksAt(at(0), at(0.9), at(1), at(2), at(9)).map(({ told }) => told.length)).toEqual([
      1, 0, 1, 0, 0,
    ]);
  });

  it("a handler that fails only at the second look, because one event may be to blame", () => {
    const failing = anAgent("a.fails", { failing: true, events_failed: 1 });
    expect(looks([failing], [anAgent("a.fails")], [failing], [failing])).toEqual([
      quiet,
      quiet,
      quiet,
      { told: ["a.fails fails again and again"], recovered: [] },
    ]);
  });

  it("jobs that failed since the last look, also after a restart that begins to count again", () => {
    const jobs = (count: number) => [anAgent("a.works", { jobs_failed: count })];
    const told = looks(jobs(2), jobs(2), jobs(2), jobs(1), jobs(1)).map((one) => one.told);
    expect(told).toEqual([["a.works has 2 jobs that failed"], [], [], ["a.works has a job that failed"], []]);
  });

  it("the worst first; nothing of agents that are disabled, not accepted, or gone", () => {
    const agents = [
      anAgent("a.schedule", { suspended_schedules: 1 }),
      anAgent("b.suspended", { state: "Suspended" }),
      broken,
      anAgent("c.disabled", { state: "Error", disabled: true }),
      anAgent("d.new", { state: "Error", awaiting: "acceptance" }),
    ];
    expect(looks(agents, [])).toEqual([
      {
        told: [
          "a.broken does not work: it is in Error",
          "b.suspended is suspended; its events wait",
          "a.schedule has a schedule that failed three times and is suspended",
        ],
        recovered: [],
      },
      quiet,
    ]);
  });
});

it("one notification names all that is new, and is not repeated", async () => {
  const agents = Array.from({ length: 7 }, (_, at) => anAgent(`a.${at}`, { state: "Error" }));
  const ctx = mockContext<{ plan: Remembered }>({
    agents,
    permissions: { see_agents: true },
    memory: { plan: nothingKnown },
  });
  const beat = heartbeat.hooks?.["beat"];
  await beat?.({} as never, ctx);
  await beat?.({} as never, ctx);
  expect(ctx.recorded.notifications).toMatchObject([
    { title: "7 agents need a look", severity: "warning", message: expect.stringContaining("And 2 more.") },
  ]);
});
