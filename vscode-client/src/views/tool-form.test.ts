import { beforeEach, describe, expect, it, vi } from "vitest";
import { fakeContext } from "../testing/context.ts";
import { action } from "../testing/things.ts";
import { commands, seen, window } from "../testing/vscode.ts";
import { FakeWebview } from "../testing/webview.ts";
import { toolFormContract } from "../webviews/tool-form/messages.ts";
import { formOf, outcomeOf, readyMs, toolForms } from "./tool-form.ts";

beforeEach(() => seen.forget());

const tool = {
  agent: "notes",
  name: "retitle",
  description: "Gives a note a title",
  parameters: { type: "object", properties: { title: { type: "string" } } },
};

async function open(answers: Parameters<typeof fakeContext>[0] = {}, kept = new Map<string, unknown>()) {
  const fake = fakeContext({ "lares/tools/list": () => [tool], ...answers });
  Object.assign(fake.context.extension, {
    workspaceState: {
      get: (key: string) => kept.get(key),
      update: async (key: string, value: unknown) => void kept.set(key, value),
    },
  });
  toolForms(fake.context);
  const panel = new FakeWebview(toolFormContract).asPanel();
  await commands.executeCommand("lares.runTool", { agent: "notes", tool: "retitle" });
  return { fake, panel, host: panel.host, kept };
}

it("if the workspace is not trusted, the message says what to do and not which method to call", async () => {
  const { context } = fakeContext({
    "lares/tools/list": () => {
      throw Object.assign(new Error("A person accepts it with lares/trust"), { data: { code: "Untrusted" } });
    },
  });
  toolForms(context);
  await commands.executeCommand("lares.runTool");
  expect(seen.messages.at(-1)?.text).toMatch(/^No tool can be run: This workspace is not trusted/);
});

describe("a tool's form", () => {
  it("has the tool's schema, runs the tool, and restores the arguments the next time", async () => {
    const { fake, host, kept } = await open({
      "lares/tools/call": () => ({ status: "success", value: { done: true } }),
    });
    await expect(host.ask("form", {})).resolves.toEqual(tool);
    await expect(host.ask("run", { arguments: { title: "A" } })).resolves.toEqual({
      status: "success",
      value: { done: true },
    });
    expect(fake.asked.at(-1)?.params).toEqual({ agent: "notes", name: "retitle", arguments: { title: "A" } });
    seen.forget();
    const again = await open({}, kept);
    await expect(again.host.ask("form", {})).resolves.toEqual({ ...tool, last: { title: "A" } });
  });

  it("is shown again while it is open, and created again after it was closed; another tool has its own", async () => {
    const other = { ...tool, name: "remove" };
    const { panel } = await open({ "lares/tools/list": () => [tool, other] });
    const run = async (name: string): Promise<unknown> =>
      await commands.executeCommand("lares.runTool", { agent: "notes", tool: name });
    await run("retitle");
    expect([seen.panels.length, panel.revealed]).toEqual([1, 1]);
    const second = new FakeWebview(toolFormContract).asPanel();
    await run("remove");
    expect([seen.panels.length, second.revealed]).toEqual([2, 0]);
    panel.close();
    new FakeWebview(toolFormContract).asPanel();
    await run("retitle");
    expect(seen.panels.length).toBe(3);
  });

  it("of a restored window is the tool's one form", async () => {
    const { context } = fakeContext({ "lares/tools/list": () => [tool] });
    toolForms(context);
    const panel = new FakeWebview(toolFormContract);
    await window.restorePanel?.(panel.surface, { agent: "notes", name: "retitle" });
    await commands.executeCommand("lares.runTool", { agent: "notes", tool: "retitle" });
    expect([seen.panels.length, panel.revealed]).toEqual([0, 1]);
  });

  it("shows the outcome of a proposal, and binds an approval to what it showed", async () => {
    const waiting = action();
    const { fake, panel, host } = await open({
      "lares/tools/call": () => ({ status: "needs_approval", action: waiting, reason: "Look at it." }),
    });
    const settled: string[] = [];
    host.on("settled", ({ state }) => settled.push(state));
    const outcome = await host.ask("run", { arguments: {} });
    expect(outcome).toMatchObject({ status: "needs_approval", action: { digest: waiting.digest } });
    await host.ask("approve", { id: waiting.id, digest: waiting.digest });
    expect(seen.commands.at(-1)).toMatchObject({
      id: "lares.approve",
      arguments: [{ id: waiting.id, digest: waiting.digest }],
    });
    fake.actions = [{ ...waiting, state: "Committed" }];
    fake.actionsChanged.fire();
    expect(settled).toEqual(["Committed"]);
    panel.close();
    fake.actionsChanged.fire();
    expect(settled).toHaveLength(1);
  });

  it("is a JSON field if the schema is too large", () => {
    const parameters = { type: "object", description: "x".repeat(300_000) };
    expect(formOf({ ...tool, parameters }, undefined).parameters).toEqual({ type: "unknown" });
  });
});

describe("a form that its window restores", () => {
  async function restore(state: unknown, tools: readonly unknown[] = [tool]) {
    const kept = new Map<string, unknown>([["lares.arguments:notes/retitle", { title: "Last" }]]);
    const fake = fakeContext({ "lares/tools/list": () => tools });
    Object.assign(fake.context.extension, { workspaceState: { get: (key: string) => kept.get(key) } });
    toolForms(fake.context);
    const panel = new FakeWebview(toolFormContract);
    await window.restorePanel?.(panel.surface, state);
    return { fake, panel, host: panel.host };
  }

  it("asks the kernel for its tool's current version", async () => {
    const changed = { ...tool, description: "Gives it another" };
    const { host, fake } = await restore({ agent: "notes", name: "retitle", draft: { title: "x" } }, [
      changed,
    ]);
    expect(fake.asked).toEqual([]);
    await expect(host.ask("form", {})).resolves.toEqual({ ...changed, last: { title: "Last" } });
    expect(fake.asked[0]?.params).toEqual({ agent: "notes" });
  });

  it("reports that the tool no longer exists", async () => {
    const { host } = await restore({ agent: "notes", name: "retitle" }, []);
    await expect(host.ask("form", {})).rejects.toMatchObject({
      message: "notes offers no tool “retitle” now.",
    });
  });

  it("waits for a starting kernel that does not know its agents yet", async () => {
    const tools: unknown[] = [];
    const { host, fake } = await restore({ agent: "notes", name: "retitle" }, tools);
    fake.isReady = false;
    const form = host.ask("form", {});
    await fake.settle();
    fake.statusChanged.fire();
    await fake.settle();
    expect(fake.asked).toHaveLength(1);
    tools.push(tool);
    fake.isReady = true;
    fake.statusChanged.fire();
    await expect(form).resolves.toMatchObject(tool);
  });

  it("waits for a limited time", async () => {
    vi.useFakeTimers();
    try {
      const { host, fake } = await restore({ agent: "notes", name: "retitle" }, []);
      fake.isReady = false;
      const refused = expect(host.ask("form", {})).rejects.toMatchObject({
        message: expect.stringContaining("no tool") as string,
      });
      await vi.advanceTimersByTimeAsync(readyMs);
      await refused;
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  const deep = (depth: number): unknown => (depth === 0 ? "x" : { a: deep(depth - 1) });
  it.each<[string, unknown]>([
    ["nothing", undefined],
    ["what no form kept", { tool: "retitle" }],
    ["another kind of name", { agent: "notes", name: 7 }],
    ["too long a name", { agent: "notes", name: "x".repeat(10_000) }],
    ["too much", { agent: "notes", name: "retitle", json: "x".repeat(300_000) }],
    [
      "too many",
      { agent: "notes", name: "retitle", draft: { a: Array.from({ length: 20_000 }, () => "x") } },
    ],
    ["too deep", { agent: "notes", name: "retitle", draft: deep(5_000) }],
    ["a draft of something else", { agent: "notes", name: "retitle", draft: { a: 1 } }],
  ])("is closed where what was kept is %s", async (_case, state) => {
    const { panel, fake } = await restore(state);
    expect(panel.isClosed).toBe(true);
    expect(fake.asked).toEqual([]);
  });
});

describe("a result", () => {
  it("is shown unless it is too large", () => {
    const outcome = outcomeOf({ status: "success", value: "x".repeat(1_000_000) });
    expect(outcome).toMatchObject({ status: "success", cut: true });
  });

  it("that is undefined stays undefined", () =>
    expect(outcomeOf({ status: "success", value: undefined })).toEqual({
      status: "success",
      value: undefined,
    }));

  it("names a limited number of effects, and the number of further ones", () => {
    const [effect] = action().effects;
    if (effect === undefined) throw new Error("The test's action has an effect.");
    const outcome = outcomeOf({
      status: "needs_approval",
      reason: "",
      action: action({ effects: Array.from({ length: 70 }, () => effect) }),
    });
    expect(outcome).toMatchObject({ action: { moreEffects: 20 } });
  });
});
