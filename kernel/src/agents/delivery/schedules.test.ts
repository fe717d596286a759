import { expect, test } from "vitest";
import type { Clock } from "../../base/clock.ts";
import { countTurns } from "../../base/testing/count-turns.ts";
import type { AgentDefinition } from "../ports.ts";
import { Schedules, type ScheduledAgent } from "./schedules.ts";

test("while the next runs of an agent's rare schedules are found, the loop has its turns", async () => {
  let monotonicMs = 0;
  const clock: Clock = {
    now: () => 1_000_000,
    monotonic: () => monotonicMs,
    timer: () => ({ [Symbol.dispose]() {} }),
  };
  let found = 0;
  const hooks = Array.from({ length: 100 }, (_, at) => ({
    handler: `go${at}`,
    schedule: "0 0 29 2 +1",
    accepts: () => ({ passed: false }),
    timing: {
      timezone: "UTC",
      catchUp: "once" as const,
      overlap: "skip" as const,
      jitterMs: 0,
      isActive: () => true,
      next: () => {
        found++;
        monotonicMs += 5;
        return 2_000_000;
      },
      between: () => [],
    },
  }));
  const agent: ScheduledAgent = {
    definition: { id: "a.b", hooks } as unknown as AgentDefinition,
    isListening: true,
    trace: () => undefined,
    announce: () => undefined,
  };
  await using schedules = new Schedules<string>({
    clock,
    routing: {} as never,
    statements: { kept: () => "kept", forgotten: () => "forgotten" },
    alreadyFired: [],
    agents: new Map([["a.b", agent]]),
    waiting: async () => 0,
    store: async () => undefined,
    tell: async () => undefined,
  });
  const { turns } = await countTurns(() => schedules.follow());
  expect(found).toBe(100);
  expect(turns).toBeGreaterThan(20);
});
