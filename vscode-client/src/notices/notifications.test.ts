import { beforeEach, expect, it } from "vitest";
import { approvalCommands } from "../commands/approvals.ts";
import { notifications } from "./notifications.ts";
import { playedContext } from "../testing/played-context.ts";
import { action, agent, effect } from "../testing/things.ts";
import { seen, showTab, TabInputWebview, window, workspace } from "../testing/vscode.ts";
import { settled } from "../testing/wire.ts";

beforeEach(() => seen.forget());

function start() {
  const fake = playedContext({ agents: [agent()] });
  const feature = notifications(fake.context);
  // Nothing was said before the window was opened.
  fake.wire.asked.shift()?.answer({ items: [], total: 0 });
  return { ...fake, feature };
}

/** The commands that buttons ran. Contexts are set when timers end, in whatever test is running then. */
const chosen = () => seen.commands.filter(({ id }) => id !== "setContext");

const big = action({ impact_score: 0.9 });
/** An action that is announced and can be approved from the notification. */
const medium = action({ impact_score: 0.6 });

it.each([
  ["small", {}, ["Approve", "Reject", "Show Changes"]],
  ["medium", { impact_score: 0.4 }, ["Show Changes", "Approve", "Reject"]],
  ["large", { impact_score: 0.9 }, ["Show Changes", "Reject"]],
  ["a deletion", { effects: [effect({ kind: "file.delete", after: null })] }, ["Show Changes", "Reject"]],
] as const)("the first button of what is %s is the safe next step", (_name, given, buttons) => {
  const { setActions, feature } = start();
  workspace.settings["lares.approvals.notifyAbove"] = 0;
  setActions(action({ ...given, effects: "effects" in given ? [...given.effects] : [effect()] }));
  expect(seen.messages[0]?.buttons).toEqual(buttons);
  feature.dispose();
});

it("a change is not announced while the review page is visible, nor later", () => {
  const { setActions, feature } = start();
  showTab({ label: "Review", input: new TabInputWebview("mainThreadWebview-lares.review") });
  setActions(big);
  showTab(undefined);
  setActions(big);
  expect(seen.messages).toEqual([]);

  showTab({ label: "Review", input: new TabInputWebview("mainThreadWebview-lares.review") });
  window.state.focused = false;
  setActions(big, action({ id: "while away", impact_score: 0.9 }));
  expect(seen.messages).toHaveLength(1);
  window.state.focused = true;
  showTab(undefined);
  feature.dispose();
});

it("a large pending change is announced once, and a button approves what was shown", async () => {
  const { setActions, feature } = start();
  setActions(big, action({ id: "small" }));
  setActions(big, action({ id: "small" }));
  expect(seen.messages).toHaveLength(1);
  expect(seen.messages[0]?.text).toBe(
    'Edits "notes/a.md". 1 file, large change. Test agent says: "Tidy up" "It is untidy."',
  );
  expect(seen.messages[0]?.buttons).toEqual(["Show Changes", "Reject"]);
  seen.messages[0]?.answer("Reject");
  await settled();
  expect(chosen()).toEqual([{ id: "lares.reject", arguments: [{ id: big.id, digest: big.digest }] }]);
  feature.dispose();
});

it.each([
  ["Approve", "Committed", "“Tidy up” was applied already. Nothing was done now."],
  ["Approve", "Rejected", "“Tidy up” was rejected already. Nothing was done now."],
  ["Approve", "Expired", "“Tidy up” has expired: nobody answered in time. Nothing was done now."],
  ["Reject", "Committed", "“Tidy up” was applied already. Nothing was done now."],
] as const)(
  "%s on one that was %s elsewhere meanwhile does nothing, and says so",
  async (button, state, told) => {
    const { setActions, feature, context, wire } = start();
    const commands = approvalCommands(context);
    setActions(medium);
    setActions({ ...medium, state });
    seen.messages.shift()?.answer(button);
    await settled();
    expect(wire.asked).toEqual([]);
    expect(seen.messages.map(({ text }) => text)).toEqual([told]);
    commands.dispose();
    feature.dispose();
  },
);

it("an agent's own offer that was decided elsewhere does nothing, and reports it", async () => {
  const { wire, setActions, feature, context } = start();
  const commands = approvalCommands(context);
  const { id, digest } = big;
  const offer = { title: "OK", actionId: id, digest };
  setActions({ ...big, impact_score: 0.1 });
  wire.tell("lares/notify", { agent: "a", title: "Backup", message: "", severity: "info", actions: [offer] });
  setActions({ ...big, state: "Rejected" });
  seen.messages.shift()?.answer("Approve: OK");
  await settled();
  expect(wire.asked).toEqual([]);
  expect(seen.messages[0]?.text).toContain("was rejected already");
  commands.dispose();
  feature.dispose();
});

it("an answer that loses a race is refused by the kernel, in one sentence", async () => {
  const { wire, setActions, feature, context } = start();
  const commands = approvalCommands(context);
  setActions(medium);
  seen.messages.shift()?.answer("Approve");
  await settled();
  await wire.refuse("lares/actions/approve", "The action is Rejected already.", "IllegalTransition");
  expect(seen.messages.map(({ text }) => text)).toEqual(["Not approved: The action is Rejected already."]);
  commands.dispose();
  feature.dispose();
});

it("a change that is too large for a message cannot be approved from it, but is opened", async () => {
  const { setActions, feature, wire } = start();
  const [effect] = big.effects;
  const many = {
    ...big,
    effects: Array.from({ length: 50 }, (_, index) => ({ ...effect!, path: `n/${index}.md` })),
  };
  setActions(many);
  expect(seen.messages[0]?.text).toMatch(/^More changes than a message names\. 50 files/);
  expect(seen.messages[0]?.buttons).toEqual(["Show Changes", "Reject"]);
  const offer = { title: "OK", actionId: many.id, digest: many.digest };
  wire.tell("lares/notify", { agent: "a", title: "Backup", message: "", severity: "info", actions: [offer] });
  expect(seen.messages[1]?.buttons).toEqual(["Show Changes"]);
  feature.dispose();
});

it("the setting determines the minimum impact", () => {
  const { setActions, feature } = start();
  workspace.settings["lares.approvals.notifyAbove"] = 0.05;
  setActions(action());
  expect(seen.messages).toHaveLength(1);
  feature.dispose();
});

it("an agent's text is plain and bounded, and its buttons cannot misrepresent what they do", async () => {
  const { wire, feature, setActions } = start();
  setActions(action({ impact_score: 0.1 }));
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
  expect(chosen()).toEqual([{ id: "lares.showChanges", arguments: [{ id: "action-1" }] }]);
  feature.dispose();
});

it("an agent's offer is accompanied by our description of its size", async () => {
  const { wire, feature, setActions } = start();
  const { id, digest } = big;
  setActions({ ...big, impact_score: 0.6 });
  seen.forget();
  const notice = { agent: "test.agent", title: "Backup", message: "Done.", severity: "info" } as const;
  wire.tell("lares/notify", { ...notice, actions: [{ title: "OK", actionId: id, digest }] });
  expect(seen.messages[0]?.text).toBe(
    'Approve: OK does this: Edits "notes/a.md". 1 file, medium change. Test agent: Backup. Done.',
  );
  seen.messages[0]?.answer("Approve: OK");
  await settled();
  expect(chosen()).toEqual([{ id: "lares.approve", arguments: [{ id, digest }] }]);

  wire.tell("lares/notify", { ...notice, actions: [{ title: "OK", actionId: "unknown", digest }] });
  expect(seen.messages[1]?.buttons).toEqual(["Show Changes"]);
  feature.dispose();
});

it("a flood of notifications is reduced to a few", () => {
  const { wire, feature } = start();
  for (let index = 0; index < 200; index++)
    wire.tell("lares/notify", { agent: "a", title: `${index}`, message: "", severity: "info" });
  expect(seen.messages.length).toBeLessThan(6);
  feature.dispose();
});

it("a notification is marked as seen once it is closed, and says how often it was sent", async () => {
  const { wire, feature } = start();
  const notice = { agent: "test.agent", title: "Backup", message: "It failed.", severity: "error" } as const;
  wire.tell("lares/notify", { id: "n1", count: 3, ...notice });
  expect(seen.messages[0]?.text).toBe("Test agent: Backup. It failed. (3 times)");
  expect(wire.asked).toEqual([]);
  seen.messages[0]?.answer(undefined);
  await settled();
  expect(wire.asked).toMatchObject([{ method: "lares/notifications/dismiss", params: { ids: ["n1"] } }]);
  feature.dispose();
});
