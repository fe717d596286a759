import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fakeContext } from "../testing/context.ts";
import { commands, seen, window } from "../testing/vscode.ts";
import { FakeWebview } from "../testing/webview.ts";
import { usageContract } from "../webviews/usage/messages.ts";
import { minChangeMs } from "./look-again.ts";
import { usage } from "./usage.ts";

const nowMs = Date.parse("2026-03-01T12:00:00Z");

beforeEach(() => {
  vi.useFakeTimers({ now: nowMs });
  seen.forget();
});
afterEach(() => void vi.useRealTimers());

const group = (key: string) => ({
  key,
  requests: 1,
  input_tokens: 10,
  output_tokens: 5,
  reasoning_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
});

async function open(answers: Parameters<typeof fakeContext>[0] = {}) {
  const fake = fakeContext(answers);
  const feature = usage(fake.context);
  const panel = new FakeWebview(usageContract).asPanel();
  await commands.executeCommand("lares.showUsage");
  return { fake, feature, panel, host: panel.host };
}

describe("the page of usage", () => {
  it("gets the sums of its period, by day, by model and by agent", async () => {
    const { fake, host, feature } = await open({
      "lares/usage": ({ group_by: by }: { group_by: string }) => ({
        groups: [group(by === "day" ? "2026-03-01" : `one ${by}`)],
      }),
    });
    const found = await host.ask("usage", { days: 7 });
    expect(found.days).toHaveLength(7);
    expect(found.days.at(-1)).toMatchObject({ key: "2026-03-01", input: 10, output: 5 });
    expect([found.models.rows[0]?.key, found.agents.rows[0]?.key]).toEqual(["one model", "one agent"]);
    expect(fake.asked.map(({ params }) => params)).toEqual(
      ["day", "model", "agent"].map((by) => ({ since: "2026-02-23T00:00:00.000Z", group_by: by })),
    );
    feature.dispose();
  });

  it("asks the providers only where a person asks for it", async () => {
    const { fake, host, feature } = await open({
      "lares/models/list": () => ({ providers: [], models: [], routes: {} }),
    });
    for (const refresh of [false, true]) await host.ask("catalog", { refresh });
    expect(fake.asked.map(({ params }) => params)).toEqual([{ refresh: false }, { refresh: true }]);
    feature.dispose();
  });

  it.each([
    [
      { ok: true, first_token_ms: 41.6 },
      { ok: true, firstTokenMs: 42 },
    ],
    [
      { ok: false, error: { class: "NoKey", message: "There is no key." } },
      { ok: false, message: "There is no key." },
    ],
  ])("tells whether a model answers: %j", async (result, outcome) => {
    const { host, feature } = await open({ "lares/models/test": () => result });
    await expect(host.ask("test", { model: "lab/a" })).resolves.toEqual(outcome);
    feature.dispose();
  });

  it("asks for a secret by the editor's boxes and not by its own", async () => {
    const { host, feature } = await open();
    commands.registerCommand("lares.storeSecret", () => undefined);
    await host.ask("storeSecret", {});
    expect(seen.commands.at(-1)).toMatchObject({ id: "lares.storeSecret" });
    feature.dispose();
  });

  it("is told, while it is seen, that agents have done something", async () => {
    const { fake, host, panel, feature } = await open();
    let changes = 0;
    host.on("changed", () => changes++);
    fake.agentsChanged.fire();
    await vi.advanceTimersByTimeAsync(minChangeMs);
    expect(changes).toBe(1);
    panel.visible = false;
    fake.agentsChanged.fire();
    await vi.advanceTimersByTimeAsync(minChangeMs);
    panel.visible = true;
    expect(changes).toBe(1);
    panel.close();
    expect(vi.getTimerCount()).toBe(0);
    feature.dispose();
  });

  it("is one: it is shown again if it is open, and created again after it was closed", async () => {
    const { panel, feature } = await open();
    await commands.executeCommand("lares.showUsage");
    expect([seen.panels.length, panel.revealed]).toEqual([1, 1]);
    panel.close();
    new FakeWebview(usageContract).asPanel();
    await commands.executeCommand("lares.showUsage");
    expect(seen.panels.length).toBe(2);
    feature.dispose();
  });

  it("is restored with its window, as the one page", async () => {
    const fake = fakeContext();
    const feature = usage(fake.context);
    const panel = new FakeWebview(usageContract);
    await window.restorePanel?.(panel.surface, undefined);
    await commands.executeCommand("lares.showUsage");
    expect([seen.panels.length, panel.revealed]).toEqual([0, 1]);
    feature.dispose();
    expect(panel.isClosed).toBe(true);
  });
});
