import { expect, test } from "vitest";
import type { Actor } from "../base/vocabulary/principal.ts";
import { boundingAgent, boundingAgents } from "./principals.ts";

const process = { kind: "process", process: "worker", agent: "dev.mind", conversation: "c1" } as const;
const schedule = { kind: "schedule", agent: "dev.clock", schedule: "daily" } as const;

test.each<[Actor, string | null]>([
  [{ kind: "person" }, null],
  [{ kind: "person", client: "an editor" }, null],
  [{ kind: "agent", id: "dev.agent" }, "dev.agent"],
  [process, "dev.mind"],
  [schedule, "dev.clock"],
  [{ kind: "kernel" }, null],
])("the authority of %j is that of %s", (actor, agent) => {
  expect(boundingAgent(actor)).toBe(agent);
});

test("on behalf of several, each agent's authority bounds once, and one's own not again", () => {
  const onBehalfOf: Actor[] = [
    schedule,
    { kind: "agent", id: "dev.own" },
    process,
    { kind: "agent", id: "dev.clock" },
    { kind: "person" },
    { kind: "kernel" },
  ];
  expect(boundingAgents("dev.own", onBehalfOf)).toEqual(["dev.clock", "dev.mind"]);
  expect(boundingAgents("dev.clock", [schedule])).toEqual([]);
});
