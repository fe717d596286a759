import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { beforeEach, expect, it } from "vitest";
import { decorationsOf } from "./changes/gutter.ts";
import { uriOfSide } from "./changes/addresses.ts";
import { ChangeContents } from "./changes/contents.ts";
import { editing } from "./changes/edit.ts";
import { PendingFiles } from "./changes/file-decorations.ts";
import { approvalLenses } from "./changes/lenses.ts";
import { ChangeFiles } from "./changes/provider.ts";
import { showChanges } from "./changes/show.ts";
import { agentCommands } from "./commands/agents.ts";
import { approvalCommands } from "./commands/approvals.ts";
import { approveFresh } from "./deciding/fresh-proposal.ts";
import { decisionCommands } from "./commands/decisions.ts";
import { jobCommands } from "./commands/jobs.ts";
import { modelCommands } from "./commands/models.ts";
import { kernelCommands } from "./commands/kernel.ts";
import { offeredCommands } from "./commands/offered.ts";
import { proposalCommands } from "./commands/proposals.ts";
import { settleUnsaved } from "./deciding/unsaved.ts";
import { chatParticipant, ChatTurn } from "./conversations/chat-participant.ts";
import { conversations } from "./conversations/conversations.ts";
import { redactEntry } from "./conversations/redact.ts";
import { actOn } from "./remembered/act.ts";
import { remembered } from "./remembered/remembered.ts";
import { callTool } from "./editor/language-model-tools.ts";
import { middleware } from "./editor/middleware.ts";
import { asks } from "./notices/asks.ts";
import { notifications } from "./notices/notifications.ts";
import { suspendedSchedules } from "./notices/suspended-schedules.ts";
import { plainMarkdown } from "./editor/plain-markdown.ts";
import { askWhatItMayDo } from "./packages/consent-after.ts";
import { packageNodes } from "./packages/package-tree.ts";
import { programRenames } from "./editor/program-renames.ts";
import type { Action } from "./protocol.ts";
import { statusBarLook } from "./status-bar/status-bar-item.ts";
import { fakeContext, type FakeContext } from "./testing/context.ts";
import { conversation, entry, said } from "./testing/conversations.ts";
import { hostileListed, hostilePackages } from "./testing/packages.ts";
import { action, agent, ask, effect, job, notification, status } from "./testing/things.ts";
import { commands, files, languages, seen, Uri, window, workspace } from "./testing/vscode.ts";
import { FakeWebview } from "./testing/webview.ts";
import { settled } from "./testing/wire.ts";
import { conversationsContract } from "./webviews/conversations/messages.ts";
import { TraceChannels } from "./traces/channels.ts";
import { trust } from "./notices/trust.ts";
import { agentNodes } from "./views/agent-tree.ts";
import { approvalNodes } from "./views/approval-tree.ts";
import { chooseMemory, exportMemory, forget, importMemory, verifyAloud } from "./views/memory-commands.ts";
import { treeItem } from "./views/node-tree.ts";
import { approveEach, rejectEach, undoEach } from "./deciding/review-batches.ts";
import { toolForms } from "./views/tool-form.ts";
import { tracesBeside } from "./views/traces-beside.ts";
import { tracesContract } from "./webviews/traces/messages.ts";
import type { TreeNode } from "./views/tree-node.ts";

/**
 * What a stranger may write: an icon, a link that runs a command, Markdown, HTML, control codes, and what turns text
 * around or hides it.
 */
const evil = "top\nbottom $(evil) [x](command:evil) <img src=evil> \u202eback\u001b[2Jhidden\u200b";
const path = `notes/${evil}.md`;
const hostileEffects = [
  effect({ path, summary: evil }),
  effect({ kind: "file.move", path, from: `old ${path}`, summary: evil }),
  effect({ kind: "file.delete", path: `gone ${path}`, after: null, summary: evil }),
  effect({ kind: "tag.add", path, tag: evil, summary: evil }),
  effect({ kind: "field.set", path, namespace: evil, key: evil, value: evil, summary: evil }),
  effect({ kind: "sidecar.write", path, sidecar: evil, value: evil, summary: evil }),
];
const hostile = (given: Partial<Action> = {}): Action =>
  action({
    agent: evil,
    title: evil,
    reason: evil,
    error: evil,
    rejected_reason: evil,
    rule: { sentence: evil },
    asked_because: { sentence: evil },
    on_behalf_of: [{ kind: "schedule", agent: evil, schedule: evil }],
    scopes: [{ id: "file", title: evil, rules: [] }],
    impact_score: 0.9,
    effects: hostileEffects,
    ...given,
  });
const place = { path, line: 1 };
const failure = { message: evil, at: "2026-01-01T12:00:00.000Z", place, handler: evil };
const hostileAgent = agent({
  id: evil,
  name: evil,
  version: evil,
  error: evil,
  hooks: [
    { handler: evil, on: evil, filter: evil },
    { handler: evil, schedule: evil },
  ] as never,
  tools: [evil],
  permissions: [evil],
  locations: [evil],
  last_failure: failure,
});
const hostileAsk = ask({
  agent: evil,
  kind: "egress",
  title: evil,
  reason: evil,
  on_behalf_of: [{ kind: "schedule", agent: evil, schedule: evil }],
  sources: [evil],
});
const hostileNotification = notification({ agent: evil, title: evil, message: evil, count: 2, action: "a" });
const hostileJob = job({
  agent: evil,
  name: evil,
  key: evil,
  state: "Running",
  progress: { fraction: 0.4, message: evil },
});
const anotherAgent = agent({ id: "other.agent", name: evil });

let fake: FakeContext;

beforeEach(() => {
  seen.forget();
  languages.lensProviders = [];
  workspace.workspaceFolders = [{ uri: Uri.file("/w"), name: "w", index: 0 }];
  fake = fakeContext(answers);
  fake.agents = [hostileAgent, anotherAgent];
  fake.actions = [hostile()];
});

const refusal = (): never => {
  throw new Error(evil);
};
const answers: Parameters<typeof fakeContext>[0] = {
  "lares/asks/list": () => [hostileAsk],
  "lares/asks/answer": refusal,
  "lares/notifications/list": () => ({ items: [hostileNotification], total: 1 }),
  "lares/notifications/act": refusal,
  "lares/notifications/dismiss": refusal,
  "lares/actions/approve": () => hostile({ state: "Failed" }),
  "lares/actions/reject": () => hostile({ state: "Rejected" }),
  "lares/actions/undo": () => hostile({ state: "Undone" }),
  "lares/actions/rebase": refusal,
  "lares/actions/content": () => ({ base64: "YQ==", eof: true }),
  "lares/agents/control": () => ({ ...hostileAgent, state: "Error" }),
  "lares/conversations/list": () => ({ items: [conversation({ title: evil, agent: evil })] }),
  "lares/conversations/entries": () => ({ items: [], total: 0 }),
  "lares/conversations/open": () => conversation({ title: evil }),
  "lares/conversations/get": () => conversation({ title: evil }),
  "lares/conversations/delete": () => ({ kept_for_forks: true }),
  "lares/conversations/follow": refusal,
  "lares/decisions/list": () => ({
    items: [{ id: "1", agent: evil, title: evil, used: 1, rules: [], place }],
  }),
  "lares/jobs/list": () => ({ items: [hostileJob], total: 1 }),
  "lares/jobs/cancel": refusal,
  "lares/commands/list": () => [
    {
      agent: evil,
      name: evil,
      title: evil,
      description: evil,
      parameters: {
        required: [evil],
        properties: {
          [evil]: { type: "string", description: evil },
          [`${evil} `]: { enum: [evil], description: evil },
        },
      },
    },
  ],
  "lares/commands/run": () => ({ status: "success", value: evil }),
  "lares/tools/list": () => [{ agent: evil, name: evil, description: evil, parameters: {} }],
  "lares/conversations/why": () => ({
    memories: [{ type: evil, text: evil, read: "now", query: evil, state: "gone" }],
    blocks: [{ name: evil, text: evil, present: false }],
    bulletin: { text: evil, present: false },
    summaries: 1,
  }),
  "lares/conversations/blocks": () => ({
    items: [{ name: evil, description: evil, text: evil, limit: 9, read_only: false, scope: "mind" }],
  }),
  "lares/conversations/editBlock": refusal,
  "lares/conversations/redact": () => ({
    entries: ["e1"],
    conversations: ["c1", "c2"],
    memories: [{ id: "m1", text: evil }],
  }),
  "lares/memory/query": () => ({ items: [{ id: "m1", variant: evil, text: evil, data: { about: evil } }] }),
  "lares/memory/correct": () => ({ id: "m2", seq: 1, blocks: [evil], conversations: [] }),
  "lares/memory/forget": () => ({ conversations: [{ id: "c1", title: evil }], blocks: [evil] }),
  "lares/memory/verify": () => ({ ok: false, records: 1, head: null, firstBad: { seq: 1, reason: evil } }),
  "lares/memory/export": refusal,
  "lares/memory/import": () => ({
    from: evil,
    records: 1,
    bytes: 1,
    vectors: 1,
    head: "a",
    first: "",
    last: "",
  }),
  "lares/models/list": () => ({
    providers: [{ id: "p", api: "ollama", state: "ready", local: true }],
    models: [{ id: `p/${evil}` }],
    routes: { [evil]: `p/${evil}` },
  }),
  "lares/models/test": () => ({ ok: false, error: { class: "Network", message: evil } }),
  "lares/usage": () => ({ groups: [] }),
  "lares/secrets/list": () => ({
    items: [{ name: evil, hosts: [evil], in: evil, created: "2026-01-01T12:00:00.000Z", source: "store" }],
  }),
  "lares/secrets/set": refusal,
  "lares/secrets/remove": refusal,
  "lares/traces/follow": () => ({ subscription: "1" }),
  "lares/traces/unfollow": () => ({}),
  "lares/traces/query": () => [],
};

/** Presses a button of every message that is open, `among` those the test names, else the last one. */
async function press(among: readonly string[] = []): Promise<void> {
  for (const message of seen.messages.splice(0))
    message.answer(message.buttons.find((button) => among.includes(button)) ?? message.buttons.at(-1));
  await settled();
}
async function run(id: string, given?: unknown): Promise<void> {
  void commands.executeCommand(id, given);
  await settled();
  await press();
}
function flat(nodes: readonly TreeNode[]): TreeNode[] {
  return nodes.flatMap((node) => [node, ...flat(node.children ?? [])]);
}
const states = ["Committed", "Rejected", "Failed", "Stale", "Expired", "Undone"] as const;
const ended = (): Action[] => states.map((state) => hostile({ id: state, state, rebasable: true }));

/**
 * How each file of the client that gives the editor something to draw is made to do it with a stranger's words. A file
 * that has only words of its own says so; a new file has to be written here.
 */
const ownWords = "words of its own";
const places: Readonly<Record<string, (() => Promise<void>) | typeof ownWords>> = {
  "changes/diff.ts": async () => {
    showChanges(fake.context);
    fake.actions = [hostile({ effects: [hostileEffects[0]!] })];
    await run("lares.showChanges", "action-1");
  },
  "changes/edit.ts": async () => {
    fake.actions = [
      hostile({ effects: [hostileEffects[0]!] }),
      hostile({ id: "other", effects: [effect({ path })] }),
    ];
    editing(fake.context, new ChangeContents(fake.context.kernel));
    await run("lares.editProposal");
    fake.actions = [hostile({ effects: [effect({ path }), effect({ path: `b ${path}` })] })];
    await run("lares.editProposal", "action-1");
    await run("lares.approveEdited");
  },
  "changes/file-decorations.ts": async () => {
    const uri = Uri.joinPath(Uri.file("/w"), path);
    new PendingFiles(fake.context).provideFileDecoration(uri as never);
  },
  "changes/gutter.ts": async () => {
    const lines = [{ line: 1, kind: "changed" as const }];
    const files = [{ action: hostile(), lines, before: null }];
    const { about } = decorationsOf(files, { isDirty: false, lineCount: 9 });
    expect(JSON.stringify(about)).not.toMatch(/\]\(|\$\(|[^\\]<img/);
  },
  "changes/lenses.ts": async () => {
    approvalLenses(fake.context);
    for (const { path: name } of hostileEffects) {
      const uri = Uri.joinPath(Uri.file("/w"), name);
      for (const provider of languages.lensProviders)
        await provider.provideCodeLenses({ uri, isDirty: false, lineCount: 9 } as never, {} as never);
    }
  },
  "changes/provider.ts": async () => {
    const changes = new ChangeFiles(fake.context, new ChangeContents(fake.context.kernel));
    for (const action of [hostile(), ...ended()]) {
      fake.actions = [action];
      changes.provideFileDecoration(uriOfSide(action.id, 0, hostileEffects[0]!, "after"));
    }
  },
  "changes/show.ts": async () => {
    showChanges(fake.context);
    await run("lares.showChanges");
    for (const action of ended()) {
      fake.actions = [action];
      await run("lares.showChanges", action.id);
    }
  },
  "commands/agents.ts": async () => {
    agentCommands(fake.context);
    for (const id of ["lares.agentReload", "lares.agentDisable", "lares.agentShowProblem"]) await run(id);
  },
  "commands/approvals.ts": async () => {
    approvalCommands(fake.context);
    window.input = evil;
    for (const id of ["approve", "approveSome", "approveAlways", "reject", "rejectWithReason"])
      await run(`lares.${id}`);
    await run("lares.reject", { id: "action-1", digest: hostile().digest, effects: [0] });
    for (const state of states) {
      fake = fakeContext({ ...answers, "lares/actions/approve": () => hostile({ state }) });
      fake.actions = [hostile({ effects: [hostileEffects[0]!], impact_score: 0 })];
      seen.forget();
      approvalCommands(fake.context);
      await run("lares.approve", "action-1");
      fake.actions = ended();
      for (const action of ended()) await run("lares.approve", action.id);
      await run("lares.undo");
      await run("lares.rebase");
      drawnSoFar();
    }
  },
  "deciding/confirm-undo.ts": async () => {
    approvalCommands(fake.context);
    fake.actions = ended();
    await run("lares.undo", "Committed");
  },
  "deciding/decide.ts": async () => {
    approvalCommands(fake.context);
    await run("lares.approve", "action-1");
  },
  "commands/decisions.ts": async () => {
    decisionCommands(fake.context);
    await run("lares.openDecisions");
    window.madePick?.accept(window.madePick.items[0]);
    await settled();
    await press();
  },
  "deciding/explain.ts": async () => {
    approvalCommands(fake.context);
    fake.actions = ended();
    await run("lares.rebase", "Stale");
  },
  "deciding/fresh-proposal.ts": async () => {
    const known = new Set<string>();
    const asking = approveFresh(fake.context, { action: hostile(), known, answeredBy: "lares.approve" });
    window.cancelProgress();
    await settled();
    await press();
    await asking;
    fake.actions = [hostile({ effects: [effect({ kind: "file.write", before: null, path })] })];
    const other = approveFresh(fake.context, { action: hostile(), known, answeredBy: "lares.approve" });
    await settled();
    await press();
    window.cancelProgress();
    await settled();
    await press();
    await other;
  },
  "commands/jobs.ts": async () => {
    jobCommands(fake.context);
    await run("lares.jobCancel");
    await run("lares.jobCancelAll");
  },
  "commands/kernel.ts": async () => {
    fake.state = { kind: "failed", reason: evil };
    const feature = kernelCommands({ restart: async () => refusal(), log: { show: () => undefined } });
    feature(fake.context);
    fake.stateChanged.fire({ kind: "silent", reason: evil });
    await press(["Restart"]);
  },
  "commands/models.ts": async () => {
    modelCommands(fake.context);
    seen.holdsPicks = true;
    await run("lares.openModels");
    window.pick((items) => items[1]);
    seen.holdsPicks = false;
    await settled();
    await press();
    await run("lares.openSecrets");
    window.madePick?.button.fire({ button: undefined, item: window.madePick.items[0] });
    await settled();
    await press(["Remove"]);
    window.input = evil;
    await run("lares.storeSecret");
  },
  "commands/offered.ts": async () => {
    offeredCommands(fake.context);
    window.input = evil;
    await run("lares.runCommand");
  },
  "commands/proposals.ts": async () => {
    const feature = proposalCommands(fake.context);
    await run("lares.approveAllOfAgent");
    await run("lares.rejectAllOfAgent");
    fake.actions = ended();
    await run("lares.undoAutomatic");
    feature.dispose();
  },
  "deciding/unsaved.ts": async () => {
    const uri = Uri.joinPath(Uri.file("/w"), path);
    workspace.textDocuments = [{ uri, isDirty: true, save: async () => true }];
    const settling = settleUnsaved([hostileEffects[0]!]);
    await press();
    await settling;
  },
  "kernel/connection.ts": ownWords,
  "conversations/answers.ts": async () => {
    const feature = conversations(fake.context);
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
    const redacting = redactEntry(fake.context, "c1", "e1", evil);
    await settled();
    await press();
    await press();
    await redacting;
  },
  "remembered/act.ts": async () => {
    const there = { agent: evil, conversation: "c1" };
    const doings = [
      actOn(fake.context, there, { kind: "bulletin", text: evil }),
      actOn(fake.context, there, { kind: "memory", text: evil }),
      actOn(fake.context, there, { kind: "memory", id: "m1", text: evil, conversation: "c1" }),
      actOn(fake.context, there, { kind: "block", name: evil }),
    ];
    await settled();
    await press();
    await press();
    await Promise.allSettled(doings);
  },
  "remembered/remembered.ts": async () => {
    const feature = remembered(fake.context);
    void commands.executeCommand("lares.why", "c1", "e1");
    await settled();
    await press();
    for (const id of ["lares.why", "lares.memories", "lares.blocks"]) await run(id);
    feature.dispose();
  },
  "conversations/chat-participant.ts": async () => {
    const feature = chatParticipant(fake.context);
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
    const feature = conversations(fake.context);
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
    const prepared = await callTool(fake.context).prepareInvocation?.({ input }, {} as never);
    expectHarmless("editor/language-model-tools.ts", prepared?.invocationMessage as string);
    expectHarmless("editor/language-model-tools.ts", prepared?.confirmationMessages?.title ?? "");
  },
  "notices/asks.ts": async () => {
    fake.asks = [hostileAsk];
    const feature = asks(fake.context);
    await press([]);
    await run("lares.openAsks", { ask: hostileAsk.id });
    await run("lares.openAsks");
    feature.dispose();
  },
  "notices/kept-notifications.ts": async () => {
    const feature = notifications(fake.context);
    await press([]);
    await run("lares.openNotifications");
    feature.dispose();
  },
  "notices/notifications.ts": async () => {
    workspace.settings["lares.approvals.notifyAbove"] = 0;
    const feature = notifications(fake.context);
    fake.actionsChanged.fire();
    const small = hostile({ id: "small", effects: [effect({ path })], impact_score: 0 });
    fake.actions = [small];
    fake.actionsChanged.fire();
    fake.tell("lares/notify", {
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
    fake.agents = [troubled];
    const feature = suspendedSchedules(fake.context);
    await settled();
    feature.dispose();
  },
  "packages/choose-package.ts": async () => {
    hostilePackages(fake, evil);
    window.input = "https://example.com/index.json";
    await run("lares.packageSearch");
  },
  "packages/consent-after.ts": async () => {
    const never = { request: async () => ({ extensions: [] }) };
    await askWhatItMayDo(never as never, { id: evil, version: evil }, 0);
  },
  "packages/decide.ts": async () => {
    hostilePackages(fake, evil);
    window.chosenFile = Uri.file(path);
    await run("lares.packageInstall");
    await run("lares.packageUpdate");
    await run("lares.packageRemove");
  },
  "packages/packages-view.ts": async () => {
    const packages = hostilePackages(fake, evil);
    await run("lares.packageUse");
    await run("lares.packageOpen");
    await run("lares.packageCheckUpdates");
    packages.answers["list"] = new Error(evil);
    await run("lares.packageRefresh");
  },
  "packages/progress.ts": async () => {
    hostilePackages(fake, evil);
    await run("lares.packageUpdate");
  },
  "starter/note-lens.ts": ownWords,
  "starter/starter.ts": ownWords,
  "status-bar/status-bar.ts": async () => {
    const named = { id: evil, name: evil };
    const facts = { status: status(), waiting: 0, questions: 0, agents: 1, failing: [], working: [] };
    for (const look of [
      statusBarLook({ ...facts, state: { kind: "running" }, failing: [named] }),
      statusBarLook({ ...facts, state: { kind: "running" }, working: [named] }),
      statusBarLook({ ...facts, state: { kind: "failed", reason: evil } }),
      statusBarLook({ ...facts, state: { kind: "silent", reason: evil } }),
      statusBarLook({ ...facts, state: { kind: "restarting", reason: evil, inMs: 1 } }),
    ]) {
      expectHarmless("status-bar/status-bar.ts", look.text);
      for (const line of look.tooltip.split("\n")) expectHarmless("status-bar/status-bar.ts", line);
    }
  },
  "traces/channels.ts": async () => {
    const channels = new TraceChannels(fake.context);
    await channels.show(evil);
    channels.dispose();
  },
  "notices/trust.ts": async () => {
    fake.status = status({ trust: { ...status().trust, pending: [evil], changedPrograms: [evil] } });
    const memory = new Map<string, unknown>();
    const workspaceState = { get: (key: string) => memory.get(key), update: async () => undefined };
    const feature = trust({
      ...fake.context,
      extension: { ...fake.context.extension, workspaceState },
    } as never);
    fake.statusChanged.fire();
    await settled();
    await press(["Not Now"]);
    feature.dispose();
  },
  "views/agents.ts": ownWords,
  "views/approvals.ts": ownWords,
  "views/consent.ts": ownWords,
  "views/memory-commands.ts": async () => {
    const { kernel } = fake.context;
    window.chosenFile = Uri.file("/memory");
    const agents = [hostileAgent, anotherAgent];
    await chooseMemory(agents, [{ name: evil, agents: [evil], records: 1 } as never]);
    const done = [
      verifyAloud(kernel, { agent: evil, namespace: evil }),
      exportMemory(kernel, { agent: evil }),
      importMemory(kernel, evil),
      forget(kernel, evil, "1", evil),
    ];
    await settled();
    await press();
    await settled();
    await press(["none"]);
    await Promise.allSettled(done);
  },
  "views/node-tree.ts": async () => {
    const now = Date.parse("2026-01-01T12:05:00.000Z");
    const nameOfAgent = (): string => evil;
    const jobs = { items: [hostileJob, { ...hostileJob, state: "Waiting" as const }], total: 2 };
    const nodes = [
      ...approvalNodes({ pending: [hostile()], recent: ended(), asks: [hostileAsk], nameOfAgent, now }),
      ...agentNodes(
        [hostileAgent, { ...hostileAgent, problems: 2 }],
        () => ({
          ...jobs,
          dead: {
            ...jobs,
            items: jobs.items.map((one) => ({ ...one, state: "Dead" as const, error: one.name })),
          },
        }),
        now,
      ),
      ...packageNodes([hostileListed(evil)], () => hostileAgent, new Map([[evil, "2.0.0"]])),
    ];
    for (const node of flat(nodes)) {
      const item = treeItem(node);
      for (const text of [item.label, item.description, item.accessibilityInformation?.label])
        if (typeof text === "string") expectHarmless("views/node-tree.ts", text);
      expect((item.tooltip as { isTrusted?: boolean } | undefined)?.isTrusted ?? false).toBe(false);
    }
  },
  "deciding/review-batches.ts": async () => {
    const asking = undoEach(fake.context, ended());
    await press(["none"]);
    void approveEach(fake.context, fake.actions, "shown");
    await press(["none"]);
    window.input = "";
    await rejectEach(fake.context, fake.actions, "shown");
    fake.actions = [hostile({ effects: [effect({ path })], impact_score: 0 })];
    const approving = approveEach(fake.context, fake.actions, "shown");
    await settled();
    await press();
    await Promise.all([asking, approving]);
  },
  "views/review.ts": ownWords,
  "views/common-state.ts": ownWords,
  "views/usage.ts": ownWords,
  "views/traces-beside.ts": async () => {
    fake.agents = [{ ...hostileAgent, id: "local.hostile" }];
    const manifest = Uri.file("/w/extension.yaml");
    workspace.workspaceFolders = [{ uri: Uri.file("/w"), name: "w", index: 0 }];
    files.set(String(manifest), new TextEncoder().encode("id: local.hostile"));
    new FakeWebview(tracesContract).asPanel();
    tracesBeside(fake.context);
    await run("lares.tracesBeside", manifest);
  },
  "views/tool-form.ts": async () => {
    toolForms(fake.context);
    await run("lares.runTool");
  },
};

/** No icon, link, control code or invisible character of a stranger's, and none of their line breaks. */
function expectHarmless(file: string, text: string): void {
  expect({
    file,
    text: text.match(/\$\(evil|\]\(command|[\u001b\u200b\u202a-\u202e]|top\nbottom/u)?.[0],
  }).toEqual({
    file,
    text: undefined,
  });
}
const drawn: typeof seen.drawn = [];
function drawnSoFar(): void {
  drawn.push(...seen.drawn.splice(0));
}

const root = fileURLToPath(new URL(".", import.meta.url));
const surface =
  /show(?:Information|Warning|Error)Message|showQuickPick|createQuickPick|showInputBox|setStatusBarMessage|createStatusBarItem|withProgress\(|createOutputChannel|createWebviewPanel|createTreeView|show(?:Save|Open)Dialog|new (?:CodeLens|MarkdownString|FileDecoration|TreeItem)\(|plainMarkdown\(|"vscode\.(?:diff|changes|open)"/;

it("every file that gives the editor something to draw is tested here", () => {
  const found = globSync("**/*.ts", { cwd: root })
    .filter((file) => !/\.test\.ts$|^testing\/|^webviews\//.test(file))
    .filter((file) => surface.test(readFileSync(`${root}${file}`, "utf8")));
  expect(found.toSorted()).toEqual(Object.keys(places).toSorted());
});

it.each(Object.entries(places).filter(([, exercise]) => exercise !== ownWords))(
  "a stranger's text stays plain text when it is drawn by %s",
  async (file, exercise) => {
    drawn.length = 0;
    files.clear();
    if (exercise !== ownWords) await exercise();
    drawnSoFar();
    for (const { file: from, surface: where, text } of drawn) {
      // Markdown is checked by its own rules above: it is escaped, and has line breaks.
      if (where !== "markdown") expectHarmless(`${from} (${where})`, text);
    }
    // Results of pure functions have been checked above.
    const isPure = [
      "changes/gutter.ts",
      "conversations/chat-participant.ts",
      "editor/language-model-tools.ts",
      "status-bar/status-bar.ts",
    ].includes(file);
    const texts = drawn.filter(({ file: from }) => from === file).map(({ text }) => text);
    if (!isPure) expect(texts.length, `${file} drew nothing`).toBeGreaterThan(0);
  },
);

it("names of the kernel's symbols and lenses draw no icon", async () => {
  const symbol = { name: evil, detail: evil, children: [{ name: evil, detail: evil, children: [] }] };
  const document = { uri: Uri.file("/w/lares.yaml") } as never;
  const symbols = await middleware.provideDocumentSymbols?.(document, {} as never, () => [symbol] as never);
  expect(JSON.stringify(symbols)).not.toMatch(/\$\(|\]\(/);
});
