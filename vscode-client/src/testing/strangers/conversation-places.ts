import { expect } from "vitest";
import { ChatTurn, chatParticipant } from "../../conversations/chat-participant.ts";
import { conversations } from "../../conversations/conversations.ts";
import { redactEntry } from "../../conversations/redact.ts";
import { callTool } from "../../editor/language-model-tools.ts";
import { plainMarkdown } from "../../editor/plain-markdown.ts";
import { programRenames } from "../../editor/program-renames.ts";
import { asks } from "../../notices/asks.ts";
import { notifications } from "../../notices/notifications.ts";
import { suspendedSchedules } from "../../notices/suspended-schedules.ts";
import { trust } from "../../notices/trust.ts";
import { actOn } from "../../remembered/act.ts";
import { remembered } from "../../remembered/remembered.ts";
import { conversationsContract } from "../../webviews/conversations/messages.ts";
import { entry, said } from "../conversations.ts";
import { effect, status } from "../things.ts";
import { commands, seen, window, workspace } from "../vscode.ts";
import { FakeWebview } from "../webview.ts";
import { settled } from "../wire.ts";
import { expectHarmless, ownWords, press, run, stranger, type Places } from "./drawing.ts";
import { evil, hostile, hostileAgent, hostileAsk, path, refusal } from "./words.ts";

export const conversationPlaces: Places = {
  "conversations/answers.ts": async () => {
    const feature = conversations(stranger.fake.context);
    const { host } = new FakeWebview(conversationsContract).asView("lares.conversations");
    const asked = [
      host.ask("remove", { id: "c1" }),
      host.ask("openLink", { address: `https://example.org/${evil.replaceAll("\n", "")}` }),
    ];
    await settled();
    await press();
    await Promise.allSettled(asked);
    feature.dispose();
  },
  "conversations/redact.ts": async () => {
    const redacting = redactEntry(stranger.fake.context, "c1", "e1", evil);
    await settled();
    await press();
    await press();
    await redacting;
  },
  "remembered/act.ts": async () => {
    const there = { agent: evil, conversation: "c1" };
    const doings = [
      actOn(stranger.fake.context, there, { kind: "bulletin", text: evil }),
      actOn(stranger.fake.context, there, { kind: "memory", text: evil }),
      actOn(stranger.fake.context, there, { kind: "memory", id: "m1", text: evil, conversation: "c1" }),
      actOn(stranger.fake.context, there, { kind: "block", name: evil }),
    ];
    await settled();
    await press();
    await press();
    await Promise.allSettled(doings);
  },
  "remembered/remembered.ts": async () => {
    const feature = remembered(stranger.fake.context);
    void commands.executeCommand("lares.why", "c1", "e1");
    await settled();
    await press();
    for (const id of ["lares.why", "lares.memories", "lares.blocks"]) await run(id);
    feature.dispose();
  },
  "conversations/chat-participant.ts": async () => {
    const feature = chatParticipant(stranger.fake.context);
    const written: string[] = [];
    const stream = {
      markdown: (text: string | { value: string }) =>
        void written.push(typeof text === "string" ? text : text.value),
      progress: (text: string) => expectHarmless("conversations/chat-participant.ts", text),
      button: () => undefined,
      reference: () => undefined,
    };
    const turn = new ChatTurn(stream as never, () => undefined);
    turn.take(said(1, evil, "user"));
    turn.stream("e2", evil);
    turn.take(said(2, `${evil}${evil}`));
    turn.take(entry(3, { kind: "tool_call", call: "c", tool: evil, arguments: { path: evil } }));
    expect(written.join("")).not.toMatch(/(?<!\\)\[x(?<!\\)\]\(|\$\(evil/);
    feature.dispose();
  },
  "conversations/conversations.ts": async () => {
    const feature = conversations(stranger.fake.context);
    seen.holdsPicks = true;
    const panel = new FakeWebview(conversationsContract).asPanel();
    Object.assign(panel.surface, { onDidChangeViewState: () => ({ dispose: () => undefined }) });
    await run("lares.openConversation");
    window.pick((items) => items[1]);
    seen.holdsPicks = false;
    await settled();
    await panel.host.ask("follow", { id: "c1" });
    expectHarmless("conversations/conversations.ts", panel.surface.title);
    await run("lares.newConversation");
    feature.dispose();
  },
  "editor/language-model-tools.ts": async () => {
    const input = { agent: evil, tool: evil, arguments: { [evil]: evil } };
    const prepared = await callTool(stranger.fake.context).prepareInvocation?.({ input }, {} as never);
    expectHarmless("editor/language-model-tools.ts", prepared?.invocationMessage as string);
    expectHarmless("editor/language-model-tools.ts", prepared?.confirmationMessages?.title ?? "");
  },
  "notices/asks.ts": async () => {
    stranger.fake.asks = [hostileAsk];
    const feature = asks(stranger.fake.context);
    await press([]);
    await run("lares.openAsks", { ask: hostileAsk.id });
    await run("lares.openAsks");
    feature.dispose();
  },
  "notices/kept-notifications.ts": async () => {
    const feature = notifications(stranger.fake.context);
    await press([]);
    await run("lares.openNotifications");
    feature.dispose();
  },
  "notices/notifications.ts": async () => {
    workspace.settings["lares.approvals.notifyAbove"] = 0;
    const feature = notifications(stranger.fake.context);
    stranger.fake.actionsChanged.fire();
    const small = hostile({ id: "small", effects: [effect({ path })], impact_score: 0 });
    stranger.fake.actions = [small];
    stranger.fake.actionsChanged.fire();
    stranger.fake.tell("lares/notify", {
      agent: evil,
      title: evil,
      message: evil,
      severity: "warning",
      actions: [{ title: evil, actionId: "small", digest: small.digest }],
    } as never);
    await settled();
    feature.dispose();
  },
  "editor/plain-markdown.ts": async () => {
    const { value, isTrusted, supportHtml, supportThemeIcons } = plainMarkdown(evil);
    expect([isTrusted, supportHtml, supportThemeIcons]).toEqual([false, false, false]);
    expect(value).not.toMatch(/\]\(|(?<!\\)<img/);
  },
  "editor/program-renames.ts": async () => {
    const token = { isCancellationRequested: false };
    await programRenames.provideRenameEdits({} as never, {} as never, "a", token as never, refusal);
  },
  "notices/reminders.ts": ownWords,
  "notices/suspended-schedules.ts": async () => {
    const suspended = { since: "2026-11-26T10:00:00.000Z", error: evil };
    const troubled = { ...hostileAgent, hooks: [{ handler: evil, schedule: evil, suspended }] };
    stranger.fake.agents = [troubled];
    const feature = suspendedSchedules(stranger.fake.context);
    await settled();
    feature.dispose();
  },
  "notices/trust.ts": async () => {
    stranger.fake.status = status({ trust: { ...status().trust, pending: [evil], changedPrograms: [evil] } });
    const memory = new Map<string, unknown>();
    const workspaceState = { get: (key: string) => memory.get(key), update: async () => undefined };
    const feature = trust({
      ...stranger.fake.context,
      extension: { ...stranger.fake.context.extension, workspaceState },
    } as never);
    stranger.fake.statusChanged.fire();
    await settled();
    await press(["Not Now"]);
    feature.dispose();
  },
};
