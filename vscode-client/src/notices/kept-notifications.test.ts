import { beforeEach, expect, it } from "vitest";
import type { AgentNotification } from "../protocol.ts";
import { fakeContext } from "../testing/context.ts";
import { action, agent, notification } from "../testing/things.ts";
import { commands, seen, workspace } from "../testing/vscode.ts";
import { settled } from "../testing/wire.ts";
import { notifications } from "./notifications.ts";

beforeEach(() => seen.forget());

function start(...kept: AgentNotification[]) {
  const resumes = kept.some(({ schedule }) => schedule !== undefined);
  const fake = fakeContext({
    "lares/notifications/list": ({ state }: { state?: string }) => {
      const items = kept.filter((one) => state === undefined || one.state === state);
      return { items, total: items.length };
    },
    "lares/notifications/dismiss": () => ({ dismissed: 1 }),
    "lares/notifications/act": () => (resumes ? { resumed: agent() } : action({ id: "again" })),
  });
  fake.agents = [agent()];
  const feature = notifications(fake.context);
  const sent = (method: string) => fake.asked.filter((one) => one.method === `lares/notifications/${method}`);
  return { fake, feature, sent };
}

const openAll = async (): Promise<void> => {
  void commands.executeCommand("lares.openNotifications");
  await settled();
};

it("what was said while no window was open is one message, with its counts and its worst severity", async () => {
  const { feature, sent } = start(
    notification({ id: "n4", title: "Four" }),
    notification({ id: "n3", title: "Three", severity: "error", count: 12 }),
    notification({ id: "n2", title: "Two" }),
    notification({ id: "n1", title: "One" }),
    notification({ id: "n0", title: "Seen", state: "Dismissed" }),
  );
  await settled();
  expect(seen.messages.map(({ text, buttons, severity }) => [text, buttons, severity])).toEqual([
    ["4 notifications while you were away: Four, Three (12 times), Two, …", ["Show", "Dismiss"], "error"],
  ]);
  seen.messages[0]?.answer("Dismiss");
  await settled();
  expect(sent("dismiss")).toMatchObject([{ params: { ids: ["n4", "n3", "n2", "n1"] } }]);
  feature.dispose();
});

it.each([
  ["warning", ["Test agent: error", "1 notification while you were away: kept warning"]],
  ["none", []],
])("with the level %s the editor shows only what is as severe, and lists all", async (level, shown) => {
  workspace.settings["lares.notifications.level"] = level;
  const { fake, feature, sent } = start(
    notification({ id: "n1", title: "kept warning" }),
    notification({ id: "n2", title: "kept info", severity: "info" }),
  );
  for (const severity of ["info", "error"] as const)
    fake.tell("lares/notify", { id: severity, agent: "test.agent", title: severity, message: "", severity });
  await settled();
  expect(seen.messages.map(({ text }) => text)).toEqual(shown);
  expect(sent("dismiss")).toEqual([]);
  seen.messages.splice(0);
  await openAll();
  expect(seen.drawn.filter(({ text }) => text.includes("kept info"))).not.toEqual([]);
  feature.dispose();
});

it("“Show” lists them, and closing the summary leaves them new", async () => {
  const { feature, sent } = start(notification());
  await settled();
  seen.messages[0]?.answer("Show");
  await settled();
  expect(seen.commands).toMatchObject([{ id: "lares.openNotifications" }]);
  expect(sent("dismiss")).toEqual([]);
  feature.dispose();
});

it("another kernel in the same window brings no second summary, nor one of what was shown", async () => {
  const { fake, feature, sent } = start(notification({ id: "n1" }), notification({ id: "n2" }));
  fake.tell("lares/notify", { id: "n2", agent: "test.agent", title: "t", message: "", severity: "info" });
  await settled();
  expect(seen.messages.map(({ text }) => text)).toEqual([
    "Test agent: t",
    "1 notification while you were away: Backup",
  ]);
  fake.state = { kind: "restarting", inMs: 1, reason: "" };
  fake.stateChanged.fire(fake.state);
  expect(sent("list")).toHaveLength(1);
  fake.state = { kind: "running" };
  fake.stateChanged.fire(fake.state);
  await settled();
  expect(sent("list")).toHaveLength(2);
  expect(seen.messages).toHaveLength(2);
  feature.dispose();
});

it("one is read as a whole, and its button shows the proposal without approving it", async () => {
  const { feature, sent } = start(notification({ id: "n1", count: 2, action: "old" }));
  await settled();
  seen.messages.splice(0);
  await openAll();
  const [shown] = seen.messages.splice(0);
  expect(shown).toMatchObject({
    text: "Backup",
    isModal: true,
    severity: "warning",
    buttons: ["Show Changes"],
  });
  expect(shown?.detail).toMatch(/^It failed\.\n\nTest agent said it .* \(2 times\)\.$/);
  shown?.answer("Show Changes");
  await settled();
  expect(sent("act")).toMatchObject([{ params: { id: "n1" } }]);
  expect(sent("dismiss")).toEqual([]);
  expect(seen.commands.at(-1)).toEqual({ id: "lares.showChanges", arguments: [{ id: "again" }] });

  await openAll();
  seen.messages.splice(0)[0]?.answer(undefined);
  await settled();
  expect(sent("dismiss")).toMatchObject([{ params: { ids: ["n1"] } }]);
  feature.dispose();
});

it("without a notification, the list says so; with seen ones only, it has these", async () => {
  const none = start();
  await openAll();
  expect(seen.messages.map(({ text }) => text)).toEqual(["No agent has sent a notification."]);
  none.feature.dispose();
  seen.forget();
  const { feature } = start(notification({ state: "Dismissed" }));
  await openAll();
  expect(seen.messages).toMatchObject([{ text: "Backup", isModal: true }]);
  feature.dispose();
});

it("a suspended schedule is told as what it is, and its notification in the list resumes it", async () => {
  const schedule = { handler: "tidy", schedule: "@daily" };
  const { fake, feature, sent } = start(
    notification({ id: "n1", title: "The schedule is suspended", schedule }),
  );
  const notice = { id: "n2", agent: "test.agent", title: "t", message: "", severity: "warning" as const };
  fake.tell("lares/notify", { ...notice, schedule });
  await settled();
  expect(seen.messages).toEqual([]);
  await openAll();
  expect(seen.messages[0]?.buttons).toEqual(["Resume"]);
  seen.messages[0]?.answer("Resume");
  await settled();
  expect(sent("act")).toMatchObject([{ params: { id: "n1" } }]);
  expect(sent("dismiss")).toEqual([]);
  expect(seen.commands.map(({ id }) => id)).not.toContain("lares.showChanges");
  feature.dispose();
});
