import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { fakeContext } from "../testing/context.ts";
import { commands, seen } from "../testing/vscode.ts";
import { FakeWebview } from "../testing/webview.ts";
import type { TraceEntry } from "../protocol.ts";
import { maxEntriesPerPush, tracesContract, type Entry } from "../webviews/traces/messages.ts";
import { pushEveryMs } from "./trace-batches.ts";
import { traces } from "./traces.ts";

const entry: TraceEntry = {
  timestamp: "2026-03-01T12:00:00.000Z",
  level: "warn",
  agent: "storage",
  message: "Two notes have the same title",
  fields: { notes: ["a.md"] },
  trace_id: "t",
  span_id: "s",
};

beforeEach(() => {
  seen.forget();
  vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

function start() {
  let subscriptions = 0;
  const fake = fakeContext({
    "lares/traces/follow": () => ({ subscription: `s${++subscriptions}` }),
    "lares/traces/unfollow": () => null,
    "lares/traces/query": () => [entry],
  });
  traces(fake.context);
  const view = new FakeWebview(tracesContract).asView("lares.traces");
  const shown: { entries: readonly Entry[]; dropped: number }[] = [];
  view.host.on("entries", (batch) => shown.push(batch));
  const tell = (subscription: string, count = 1): void => {
    for (let index = 0; index < count; index++) fake.tell("lares/traces/entry", { subscription, entry });
  };
  return { ...fake, view, shown, tell };
}

it("passes on only what the page follows, at most one batch at a time", async () => {
  const { view, shown, tell, asked } = start();
  await view.host.ask("follow", { agent: "storage" });
  expect(asked).toEqual([{ method: "lares/traces/follow", params: { agent: "storage" } }]);
  tell("another's");
  tell("s1", 2_000);
  expect(shown).toEqual([]);
  vi.advanceTimersByTime(pushEveryMs);
  expect(shown).toHaveLength(1);
  expect(shown[0]).toMatchObject({ dropped: 2_000 - maxEntriesPerPush });
  expect(shown[0]?.entries[0]).toMatchObject({ message: entry.message, fields: '{"notes":["a.md"]}' });
});

it("unsubscribes before it follows something else", async () => {
  const { view, asked } = start();
  await view.host.ask("follow", {});
  await view.host.ask("follow", { level: "error" });
  expect(asked.slice(1)).toEqual([
    { method: "lares/traces/unfollow", params: { subscription: "s1" } },
    { method: "lares/traces/follow", params: { level: "error" } },
  ]);
});

it("does nothing for a hidden page: the kernel is notified, and nothing is pushed", async () => {
  const { view, shown, tell, asked, settle } = start();
  await view.host.ask("follow", {});
  tell("s1");
  view.become(false);
  await settle();
  expect(asked.at(-1)).toEqual({ method: "lares/traces/unfollow", params: { subscription: "s1" } });
  tell("s1", 100);
  expect(vi.getTimerCount()).toBe(0);
  expect(shown).toEqual([]);
});

it("asks the kernel with the filters that are set", async () => {
  const { view, asked } = start();
  await expect(view.host.ask("query", { level: "warn", since: "1h" })).resolves.toHaveLength(1);
  expect(asked[0]).toMatchObject({ params: { level: "warn", since: "1h" } });
  expect(asked[0]?.params).not.toHaveProperty("agent");
});

it("shows the agent of a tree's item, also on a page that opens later", async () => {
  const { view } = start();
  await commands.executeCommand("lares.showTraces", { agent: "storage" });
  expect(seen.commands.some(({ id }) => id === "lares.traces.focus")).toBe(true);
  await expect(view.host.ask("focus", {})).resolves.toEqual({ agent: "storage" });
  await expect(view.host.ask("focus", {})).resolves.toEqual({});
});

it("copies by the editor", async () => {
  const { view } = start();
  await view.host.ask("copy", { text: "a\tb" });
  expect(seen.clipboard).toBe("a\tb");
});
