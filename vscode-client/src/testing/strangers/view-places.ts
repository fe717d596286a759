import { expect } from "vitest";
import { askWhatItMayDo } from "../../packages/consent-after.ts";
import { packageNodes } from "../../packages/package-tree.ts";
import { statusBarLook } from "../../status-bar/status-bar-item.ts";
import { TraceChannels } from "../../traces/channels.ts";
import { agentNodes } from "../../views/agent-tree.ts";
import { approvalNodes } from "../../views/approval-tree.ts";
import {
  chooseMemory,
  exportMemory,
  forget,
  importMemory,
  verifyAloud,
} from "../../views/memory-commands.ts";
import { treeItem } from "../../views/node-tree.ts";
import { toolForms } from "../../views/tool-form.ts";
import { tracesBeside } from "../../views/traces-beside.ts";
import { type TreeNode } from "../../views/tree-node.ts";
import { tracesContract } from "../../webviews/traces/messages.ts";
import { hostileListed, hostilePackages } from "../packages.ts";
import { status } from "../things.ts";
import { Uri, files, window, workspace } from "../vscode.ts";
import { FakeWebview } from "../webview.ts";
import { settled } from "../wire.ts";
import { expectHarmless, ownWords, press, run, stranger, type Places } from "./drawing.ts";
import { anotherAgent, ended, evil, hostile, hostileAgent, hostileAsk, hostileJob, path } from "./words.ts";

function flat(nodes: readonly TreeNode[]): TreeNode[] {
  return nodes.flatMap((node) => [node, ...flat(node.children ?? [])]);
}
export const viewPlaces: Places = {
  "kernel/connection.ts": ownWords,
  "packages/choose-package.ts": async () => {
    hostilePackages(stranger.fake, evil);
    window.input = "https://example.com/index.json";
    await run("lares.packageSearch");
  },
  "packages/consent-after.ts": async () => {
    const never = { request: async () => ({ extensions: [] }) };
    await askWhatItMayDo(never as never, { id: evil, version: evil }, 0);
  },
  "packages/decide.ts": async () => {
    hostilePackages(stranger.fake, evil);
    window.chosenFile = Uri.file(path);
    await run("lares.packageInstall");
    await run("lares.packageUpdate");
    await run("lares.packageRemove");
  },
  "packages/packages-view.ts": async () => {
    const packages = hostilePackages(stranger.fake, evil);
    await run("lares.packageUse");
    await run("lares.packageOpen");
    await run("lares.packageCheckUpdates");
    packages.answers["list"] = new Error(evil);
    await run("lares.packageRefresh");
  },
  "packages/progress.ts": async () => {
    hostilePackages(stranger.fake, evil);
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
    const channels = new TraceChannels(stranger.fake.context);
    await channels.show(evil);
    channels.dispose();
  },
  "views/agents.ts": ownWords,
  "views/approvals.ts": ownWords,
  "views/consent.ts": ownWords,
  "views/memory-commands.ts": async () => {
    const { kernel } = stranger.fake.context;
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
  "views/review.ts": ownWords,
  "views/common-state.ts": ownWords,
  "views/usage.ts": ownWords,
  "views/traces-beside.ts": async () => {
    stranger.fake.agents = [{ ...hostileAgent, id: "local.hostile" }];
    const manifest = Uri.file("/w/extension.yaml");
    workspace.workspaceFolders = [{ uri: Uri.file("/w"), name: "w", index: 0 }];
    files.set(String(manifest), new TextEncoder().encode("id: local.hostile"));
    new FakeWebview(tracesContract).asPanel();
    tracesBeside(stranger.fake.context);
    await run("lares.tracesBeside", manifest);
  },
  "views/tool-form.ts": async () => {
    toolForms(stranger.fake.context);
    await run("lares.runTool");
  },
};
