import { beforeEach, expect, it } from "vitest";
import { notifications } from "./notifications.ts";
import { playedContext } from "./testing/played-context.ts";
import { action, agent } from "./testing/things.ts";
import { seen, workspace } from "./testing/vscode.ts";
import { settled } from "./testing/wire.ts";

beforeEach(() => seen.forget());

function start() {
  const fake = playedContext({ agents: [agent()] });
  return { ...fake, feature: notifications(fake.context) };
}

const big = action({ impact_score: 0.9 });

it("what waits and changes much is told once, and a button approves what was shown", async () => {
  const { setActions, feature } = start();
  setActions(big, action({ id: "small" }));
  setActions(big, action({ id: "small" }));
  expect(seen.messages).toHaveLength(1);
  expect(seen.messages[0]?.text).toBe(
    "Test agent proposes “Tidy up”: 1 change, high impact (0.90). It is untidy.",
  );
  seen.messages[0]?.answer("Approve");
  await settled();
  expect(seen.commands).toEqual([{ id: "lares.approve", arguments: [{ id: big.id, digest: big.digest }] }]);
  feature.dispose();
});

it("the setting says from which impact on", () => {
  const { setActions, feature } = start();
  workspace.settings["lares.approvals.notifyAbove"] = 0.05;
  setActions(action());
  expect(seen.messages).toHaveLength(1);
  feature.dispose();
});

it("what an agent says is plain text of bounded length, and its buttons cannot lie about what they do", async () => {
  const { wire, feature } = start();
  wire.tell("lares/notify", {
    agent: "test.agent",
    title: "[click](command:evil)\u202e",
    message: "x".repeat(5000),
    severity: "warning",
    actions: [{ title: "Close", actionId: "action-1", digest: big.digest }],
  });
  const [shown] = seen.messages;
  expect(shown?.severity).toBe("warning");
  expect(shown?.text).not.toMatch(/\]\(|\u202e/);
  expect(shown?.text.length).toBeLessThan(400);
  expect(shown?.buttons).toEqual(["Approve: Close", "Show Changes"]);
  shown?.answer("Show Changes");
  await settled();
  expect(seen.commands).toEqual([{ id: "lares.showChanges", arguments: [{ id: "action-1" }] }]);
  feature.dispose();
});

it("a flood of notifications is a few", () => {
  const { wire, feature } = start();
  for (let index = 0; index < 200; index++)
    wire.tell("lares/notify", { agent: "a", title: `${index}`, message: "", severity: "info" });
  expect(seen.messages.length).toBeLessThan(6);
  feature.dispose();
});
