import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { agentIs } from "../../base/vocabulary/agent-words.ts";
import { createActor } from "xstate";
import type { AgentCommand, AgentState } from "../../base/vocabulary/agent.ts";
import { lifecycleMachine, refusal, stateOf, type LifecycleEvent } from "./machine.ts";

function run(events: readonly LifecycleEvent[], enabled = true) {
  const actor = createActor(lifecycleMachine, { input: { enabled } });
  actor.start();
  for (const event of events) actor.send(event);
  return actor.getSnapshot();
}

const wake: LifecycleEvent = { type: "wake" };
const started: LifecycleEvent = { type: "started" };
const stopped: LifecycleEvent = { type: "stopped" };
const suspend: LifecycleEvent = { type: "suspend", reason: "why" };

describe("the lifecycle", () => {
  const check = (
    name: string,
    events: LifecycleEvent[],
    state: AgentState,
    reason: string | null = null,
  ): void =>
    it(name, () => {
      const snapshot = run(events);
      expect(stateOf(snapshot)).toBe(state);
      expect(snapshot.context.reason).toBe(reason);
    });

  check("rests unloaded", [], "Unloaded");
  check("wakes", [wake], "Initializing");
  check("becomes active", [wake, started], "Active");
  check("unloads when idle", [wake, started, { type: "unload" }], "ShuttingDown");
  check("is unloaded when its guest is gone", [wake, started, { type: "unload" }, stopped], "Unloaded");
  check("is suspended by way of a shutdown", [wake, started, suspend, stopped], "Suspended", "why");
  check("resumes", [wake, started, suspend, stopped, { type: "resume" }], "Initializing");
  check("suspends before it was ever loaded", [suspend], "Suspended", "why");
  check("a broken program is Error", [wake, { type: "broken", reason: "no" }, stopped], "Error", "no");
  check("Error is not left by work", [wake, { type: "broken", reason: "no" }, stopped, wake], "Error", "no");
  check(
    "Error is left by reload",
    [wake, { type: "broken", reason: "no" }, stopped, { type: "reload" }],
    "Initializing",
  );
  check("a crash unloads", [wake, started, { type: "crashed" }], "Unloaded");
  check(
    "reload goes through shutdown to a new start",
    [wake, started, { type: "reload" }, stopped],
    "Initializing",
  );
  check("a disabled agent is not woken", [{ type: "disable" }, wake], "Unloaded");
  check("disabling while it starts ends in Unloaded", [wake, { type: "disable" }, stopped], "Unloaded");
  check(
    "a late start after a disable is not Active",
    [wake, { type: "disable" }, started, stopped],
    "Unloaded",
  );
});

describe("commands that are not legal", () => {
  const check = (events: LifecycleEvent[], command: AgentCommand, legal: boolean): void =>
    it(`${command} after [${events.map(({ type }) => type).join(", ")}] is ${legal ? "legal" : "refused, naming the state"}`, () => {
      const snapshot = run(events);
      const sentence = refusal(snapshot, command);
      if (legal) expect(sentence).toBeNull();
      else {
        const isOff = stateOf(snapshot) === "Unloaded" && !snapshot.context.enabled;
        expect(sentence).toContain(isOff ? "is off" : agentIs(stateOf(snapshot)));
      }
    });

  check([], "resume", false);
  check([], "enable", false);
  check([{ type: "disable" }], "enable", true);
  check([{ type: "disable" }], "disable", false);
  check([{ type: "disable" }], "suspend", false);
  check([{ type: "disable" }], "reload", false);
  check([wake, started], "resume", false);
  check([wake, started], "suspend", true);
  check([wake, started], "reload", true);
  check([wake], "reload", false);
  check([wake, started, suspend], "resume", false);
  check([wake, started, suspend, stopped], "resume", true);
  check([wake, started, suspend, stopped], "suspend", false);
});

it("no sequence of events leaves the six states, and refusal() agrees with the machine", () => {
  const commands = ["enable", "disable", "suspend", "resume", "reload"] as const;
  const event = fc.constantFrom<LifecycleEvent>(
    ...commands.map((type) => (type === "suspend" ? { type, reason: "r" } : { type })),
    wake,
    started,
    stopped,
    { type: "unload" },
    { type: "crashed" },
    { type: "broken", reason: "b" },
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), fc.boolean(), (events, enabled) => {
      const actor = createActor(lifecycleMachine, { input: { enabled } });
      actor.start();
      for (const each of events) {
        const before = actor.getSnapshot();
        actor.send(each);
        const after = actor.getSnapshot();
        expect(["Unloaded", "Initializing", "Active", "Suspended", "Error", "ShuttingDown"]).toContain(
          after.value,
        );
        if (!before.can(each)) expect(after.value).toBe(before.value);
        // A disabled agent has no guest and starts none.
        if (!after.context.enabled) expect(["Unloaded", "ShuttingDown"]).toContain(after.value);
        if (after.value === "Suspended" || after.value === "Error")
          expect(after.context.reason).not.toBeNull();
      }
    }),
  );
});
