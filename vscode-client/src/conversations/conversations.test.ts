import { beforeEach, describe, expect, it } from "vitest";
import { conversation, entry, said } from "../testing/conversations.ts";
import { fakeContext } from "../testing/context.ts";
import { action, agent, ask } from "../testing/things.ts";
import { commands, openedAddresses, seen, workspace } from "../testing/vscode.ts";
import { FakeWebview } from "../testing/webview.ts";
import { settled } from "../testing/wire.ts";
import { conversationsContract } from "../webviews/conversations/messages.ts";
import { conversations, viewFor } from "./conversations.ts";

beforeEach(() => {
  seen.forget();
  openedAddresses.length = 0;
});

const notFound = (): never => {
  throw Object.assign(new Error("There is no such conversation."), { data: { code: "NotFound" } });
};
const proposed = action({
  on_behalf_of: [{ kind: "process", process: "channel", agent: "test.agent", conversation: "c1" }],
});
const answers = (more: Parameters<typeof fakeContext>[0] = {}) => ({
  "lares/conversations/get": () => conversation(),
  "lares/conversations/entries": ({ kinds }: { kinds?: string[] }) =>
    kinds === undefined
      ? {
          items: [
            said(2, "Hello", "user"),
            entry(3, { kind: "action", ref: "action-1", state: "PendingApproval" }),
          ],
          total: 250,
        }
      : { items: [entry(1, { kind: "pin", entry: "e0", pinned: true })], total: 1 },
  "lares/conversations/follow": () => ({ subscription: "s1", seq: 3 }),
  "lares/conversations/unfollow": () => null,
  "lares/actions/get": notFound,
  ...more,
});

function open(more: Parameters<typeof fakeContext>[0] = {}) {
  const fake = fakeContext(answers(more));
  fake.agents = [agent()];
  fake.actions = [proposed, action({ id: "other" })];
  fake.asks = [ask({ conversation: "c1" }), ask({ id: "ask-2" })];
  const feature = conversations(fake.context);
  const view = new FakeWebview(conversationsContract).asView("lares.conversations");
  return { fake, feature, view, host: view.host, methods: () => fake.asked.map(({ method }) => method) };
}

describe("the page of conversations", () => {
  it("gets a conversation's last entries, what is pinned before them, and what waits in it alone", async () => {
    const { host, feature } = open();
    const found = await host.ask("follow", { id: "c1" });
    expect(found).toMatchObject({
      hasEarlier: true,
      pinned: ["e0"],
      head: { waiting: 2, activity: "waiting" },
    });
    expect(found.entries.map(({ seq }) => seq)).toEqual([2, 3]);
    expect(found.decisions.cards.map(({ id }) => id)).toEqual(["action-1"]);
    expect(found.decisions.cards[0]).not.toHaveProperty("requestedBy");
    expect(found.decisions.questions.map(({ id }) => id)).toEqual(["ask-1"]);
    feature.dispose();
  });

  it("has the question of an agent whose tool the conversation called, and who called it", async () => {
    const { fake, host, feature } = open();
    const channel = { kind: "process", process: "channel", agent: "test.agent", conversation: "c1" } as const;
    fake.asks = [ask({ agent: "test.other", on_behalf_of: [{ kind: "agent", id: "test.middle" }, channel] })];
    const { decisions, head } = await host.ask("follow", { id: "c1" });
    expect(decisions.questions).toMatchObject([
      {
        requestedBy:
          'Requested by test.middle, on behalf of the channel of test.agent in the conversation "c1".',
      },
    ]);
    expect(head.waiting).toBe(2);
    feature.dispose();
  });

  it("gets entries, deltas and decisions while it is visible", async () => {
    const { fake, host, feature, view } = open();
    const told: string[] = [];
    host.on("entries", ({ entries }) => told.push(...entries.map(({ seq }) => `entry ${seq}`)));
    host.on("deltas", ({ deltas }) => told.push(...deltas.map(({ text }) => `delta ${text}`)));
    host.on("decisions", ({ cards }) => told.push(`cards ${cards.length}`));
    await host.ask("follow", { id: "c1" });
    await settled();
    const delta = { process: "channel", message: "m", part: 0, type: "text" as const, text: "Hm" };
    fake.tell("lares/conversations/delta", { subscription: "s1", ...delta });
    fake.tell("lares/conversations/entry", { subscription: "s1", entry: said(4, "Yes") });
    fake.tell("lares/conversations/changed", conversation({ seq: 4 }));
    fake.actions = [];
    fake.actionsChanged.fire();
    await settled();
    expect(told).toEqual(["delta Hm", "entry 4", "cards 0", "cards 0"]);
    view.become(false);
    expect(fake.asked.at(-1)).toMatchObject({ method: "lares/conversations/unfollow" });
    feature.dispose();
  });

  it("sends a text as it is, and with what was attached as parts", async () => {
    const { fake, host, feature } = open({ "lares/conversations/send": () => ({ entry: "e9" }) });
    await host.ask("send", { id: "c1", text: "Hello", attached: [], key: "k1" });
    await host.ask("send", { id: "c1", text: "See", attached: [{ kind: "file", path: "a.md" }], key: "k2" });
    expect(fake.asked.map(({ params }) => params)).toEqual([
      { id: "c1", key: "k1", text: "Hello" },
      {
        id: "c1",
        key: "k2",
        parts: [
          { type: "text", text: "See" },
          { type: "file", path: "a.md" },
        ],
      },
    ]);
    feature.dispose();
  });

  it("approves with the digest that was shown", async () => {
    const { fake, host, feature } = open({
      "lares/actions/approve": () => ({ ...proposed, state: "Committed" }),
    });
    const digest = `sha256:${"7".repeat(64)}`;
    await host.ask("approve", { id: "action-1", digest });
    expect(fake.asked.at(-1)).toMatchObject({
      method: "lares/actions/approve",
      params: { id: "action-1", digest },
    });
    feature.dispose();
  });

  it("offers only agents with a mind, and has no command where the kernel knows none", async () => {
    const { fake, host, feature } = open({
      "lares/conversations/entries": ({ agent: of }: { agent: string }) =>
        of === "test.agent" ? { items: [], total: 0 } : notFound(),
      "lares/commands/list": () => {
        throw Object.assign(new Error("no"), { code: -32_601 });
      },
    });
    fake.agents = [agent(), agent({ id: "plain" })];
    expect(await host.ask("minds", {})).toEqual({ agents: [{ id: "test.agent" }] });
    expect(await host.ask("commands", { agent: "test.agent" })).toEqual({ commands: [] });
    feature.dispose();
  });

  it("deletes only after the person said so, and says what forks keep", async () => {
    const { fake, host, feature, methods } = open({
      "lares/conversations/delete": () => ({ kept_for_forks: true }),
    });
    const gone: string[] = [];
    host.on("gone", ({ id }) => gone.push(id));
    await host.ask("follow", { id: "c1" });
    const first = host.ask("remove", { id: "c1" });
    await settled();
    seen.messages.shift()?.answer(undefined);
    expect(await first).toEqual({ isRemoved: false });
    expect(methods()).not.toContain("lares/conversations/delete");
    const second = host.ask("remove", { id: "c1" });
    await settled();
    seen.messages.shift()?.answer("Delete");
    expect(await second).toEqual({ isRemoved: true });
    expect(seen.messages.at(-1)?.text).toContain("forks");
    expect(gone).toEqual(["c1"]);
    expect(fake.asked.filter(({ method }) => method.endsWith("/delete"))).toHaveLength(1);
    feature.dispose();
  });

  it("opens only addresses of the web, and only after the person has read them", async () => {
    const { host, feature } = open();
    await expect(host.ask("openLink", { address: "command:lares.approve" })).rejects.toThrow("web");
    expect(seen.messages).toEqual([]);
    const opening = host.ask("openLink", { address: "https://example.org/a" });
    await settled();
    expect(openedAddresses).toEqual([]);
    seen.messages.shift()?.answer("Open");
    await opening;
    expect(openedAddresses).toEqual(["https://example.org/a"]);
    feature.dispose();
  });

  it("says that a conversation was deleted elsewhere", async () => {
    const { host, feature } = open({ "lares/conversations/get": notFound });
    await expect(host.ask("follow", { id: "c1" })).rejects.toMatchObject({ code: "NotFound" });
    feature.dispose();
  });

  it("shows all of a long text in an editor", async () => {
    const { host, feature } = open({
      "lares/conversations/entries": () => ({ items: [said(5, "all of it")], total: 1 }),
    });
    await host.ask("showWhole", { id: "c1", seq: 5 });
    expect(workspace.openedTexts.at(-1)).toBe("all of it");
    feature.dispose();
  });

  it("opens a conversation in an editor, whose tab has its title", async () => {
    const { feature } = open();
    const panel = new FakeWebview(conversationsContract).asPanel();
    Object.assign(panel.surface, { onDidChangeViewState: () => ({ dispose: () => undefined }) });
    await commands.executeCommand("lares.openConversation", "c1");
    expect(await panel.host.ask("wanted", {})).toEqual({ id: "c1", attached: [] });
    expect(await panel.host.ask("wanted", {})).toEqual({ attached: [] });
    await panel.host.ask("follow", { id: "c1" });
    expect(panel.surface.title).toBe("Walks");
    expect(seen.panels).toHaveLength(1);
    feature.dispose();
  });
});

it.each([
  ["1.100.0", "lares.conversationsInLares"],
  ["1.105.3", "lares.conversationsInLares"],
  ["1.106.0", "lares.conversations"],
  ["1.139.1", "lares.conversations"],
  ["2.0.0", "lares.conversations"],
])("editor %s shows the view %s", (version, expected) => expect(viewFor(version)).toBe(expected));
