import { beforeEach, expect, it } from "vitest";
import type { Agent } from "../protocol.ts";
import { fakeContext } from "../testing/context.ts";
import { agent as anAgent } from "../testing/things.ts";
import { seen } from "../testing/vscode.ts";
import { settled } from "../testing/wire.ts";
import { suspendedSchedules } from "./suspended-schedules.ts";

beforeEach(() => seen.forget());

const since = "2026-11-26T10:00:00.000Z";
const hook = (handler: string, suspended = true): Agent["hooks"][number] => ({
  handler,
  schedule: "@daily",
  ...(suspended ? { suspended: { since, error: "It is broken." } } : {}),
});

function start(...hooks: Agent["hooks"]) {
  const fake = fakeContext({ "lares/agents/control": () => anAgent({}) });
  const become = (...now: Agent["hooks"]): void => {
    fake.agents = [anAgent({ id: "a", name: "Ant", hooks: now })];
    fake.agentsChanged.fire();
  };
  fake.agents = [anAgent({ id: "a", name: "Ant", hooks })];
  const feature = suspendedSchedules(fake.context);
  return { fake, feature, become };
}

it("a suspended schedule is told once, with why, and is resumed by its place at that time", async () => {
  const { fake, feature, become } = start(hook("tidy", false));
  become(hook("tidy"));
  become(hook("tidy"));
  await settled();
  expect(seen.messages.map(({ text, buttons }) => [text, buttons])).toEqual([
    [
      expect.stringMatching(/Ant.* no longer runs .*tidy.*three runs in a row failed: .*It is broken\./),
      ["Resume", "Show Traces"],
    ],
  ]);
  become(hook("other", false), hook("tidy"));
  seen.messages[0]?.answer("Resume");
  await settled();
  expect(fake.asked).toContainEqual({
    method: "lares/agents/control",
    params: { id: "a", command: "resume", hook: 1 },
  });
  become(hook("other", false), hook("tidy", false));
  become(hook("other", false), hook("tidy"));
  await settled();
  expect(seen.messages).toHaveLength(2);
  feature.dispose();
});

it("many at once are one message", async () => {
  const { feature } = start(...["a", "b", "c", "d"].map((name) => hook(name)));
  await settled();
  expect(seen.messages.map(({ text }) => text)).toEqual([
    "4 schedules no longer run, because three runs in a row of each failed.",
  ]);
  feature.dispose();
});
