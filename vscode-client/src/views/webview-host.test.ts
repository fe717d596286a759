import { beforeEach, describe, expect, it, vi } from "vitest";
import type { KernelState } from "../kernel/kernel.ts";
import { fakeContext } from "../testing/context.ts";
import { seen } from "../testing/vscode.ts";
import { FakeWebview } from "../testing/webview.ts";
import { activityContract } from "../webviews/activity/messages.ts";
import { activity } from "./activity.ts";
import { pageWaitsMs } from "./webview-host.ts";

beforeEach(() => {
  seen.forget();
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

function open() {
  const fake = fakeContext();
  fake.state = { kind: "starting" };
  activity(fake.context);
  const page = new FakeWebview(activityContract).asView("lares.activity");
  return {
    page,
    html: () => page.surface.webview.html,
    become: async (state: KernelState): Promise<void> => {
      fake.state = state;
      fake.stateChanged.fire(state);
      await vi.advanceTimersByTimeAsync(0);
    },
  };
}

describe("the page of a view that is opened while the kernel starts", () => {
  it.each([
    { kind: "running" } as const,
    { kind: "untrusted", by: "documents" } as const,
    { kind: "failed", reason: "it is gone" } as const,
  ])("is made once it is $kind, and not before", async (state) => {
    const { html, become } = open();
    await become({ kind: "starting" });
    expect(html()).toBe("");
    await become(state);
    expect(html()).toContain("<html");
  });

  it("is loaded after a while in any case, to show that the kernel is starting", async () => {
    const { html } = open();
    await vi.advanceTimersByTimeAsync(pageWaitsMs - 1);
    expect(html()).toBe("");
    await vi.advanceTimersByTimeAsync(1);
    expect(html()).toContain("<html");
  });

  it("is never loaded if the view was closed meanwhile", async () => {
    const { page, html, become } = open();
    page.close();
    await become({ kind: "running" });
    await vi.advanceTimersByTimeAsync(pageWaitsMs);
    expect(html()).toBe("");
  });
});
