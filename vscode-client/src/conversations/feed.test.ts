import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { KernelState } from "../kernel/kernel.ts";
import { conversation, said } from "../testing/conversations.ts";
import { FakeWire } from "../testing/wire.ts";
import { Feed } from "./feed.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

function start(from = 0) {
  const wire = new FakeWire<KernelState>({ kind: "running" });
  const told: string[] = [];
  const feed = new Feed(wire, "c1", from, {
    entries: (entries) => told.push(...entries.map(({ seq }) => `entry ${seq}`)),
    deltas: (deltas) => told.push(...deltas.map(({ text }) => `delta ${text}`)),
    changed: ({ seq }) => told.push(`changed ${seq}`),
    gone: () => told.push("gone"),
  });
  const tell = (subscription: string, seq: number): void =>
    wire.tell("lares/conversations/entry", { subscription, entry: said(seq, "x") });
  const write = (subscription: string, text: string): void =>
    wire.tell("lares/conversations/delta", {
      subscription,
      process: "channel",
      message: "m",
      part: 0,
      type: "text",
      text,
    });
  const pass = (): void => void vi.advanceTimersByTime(100);
  return { wire, feed, told, tell, write, pass };
}

describe("a feed", () => {
  it("passes on what came before the kernel named the subscription, and nothing of another one", async () => {
    const { wire, feed, told, tell, pass } = start();
    const following = feed.follow();
    tell("s1", 1);
    tell("other", 7);
    await wire.answer("lares/conversations/follow", { subscription: "s1", seq: 1 });
    await following;
    tell("s1", 2);
    tell("s1", 2);
    pass();
    expect(told).toEqual(["entry 1", "entry 2"]);
  });

  it("joins deltas, and passes them on before the entry that replaces them", async () => {
    const { wire, feed, told, tell, write, pass } = start();
    void feed.follow();
    await wire.answer("lares/conversations/follow", { subscription: "s1", seq: 0 });
    write("s1", "Good ");
    write("s1", "morning");
    tell("s1", 1);
    write("s1", "later");
    pass();
    expect(told).toEqual(["delta Good morning", "entry 1", "delta later"]);
  });

  it("follows again where it was when the kernel's process was replaced", async () => {
    const { wire, feed, told, tell, pass } = start();
    void feed.follow();
    await wire.answer("lares/conversations/follow", { subscription: "s1", seq: 0 });
    tell("s1", 4);
    wire.become({ kind: "restarting", inMs: 1, reason: "gone" });
    wire.become({ kind: "running" });
    expect(wire.asked.at(-1)).toMatchObject({ params: { id: "c1", from: 4 } });
    await wire.answer("lares/conversations/follow", { subscription: "s2", seq: 5 });
    tell("s2", 5);
    pass();
    expect(told).toEqual(["entry 4", "entry 5"]);
  });

  it("follows again when the conversation is ahead: another kernel does not know its subscription", async () => {
    const { wire, feed, tell, told, pass } = start();
    void feed.follow();
    await wire.answer("lares/conversations/follow", { subscription: "s1", seq: 0 });
    tell("s1", 3);
    wire.tell("lares/conversations/changed", conversation({ seq: 3 }));
    expect(wire.isAsked("lares/conversations/follow")).toBe(false);
    wire.tell("lares/conversations/changed", conversation({ seq: 6 }));
    await wire.answer("lares/conversations/follow", { subscription: "s2", seq: 6 });
    // Its last record may be something else than an entry, which must not cause a loop.
    wire.tell("lares/conversations/changed", conversation({ seq: 6 }));
    expect(wire.isAsked("lares/conversations/follow")).toBe(false);
    tell("s2", 5);
    pass();
    expect(told.filter((one) => one.startsWith("entry"))).toEqual(["entry 3", "entry 5"]);
  });

  it("says that a conversation is gone", async () => {
    const { wire, feed, told } = start();
    void feed.follow();
    await wire.refuse("lares/conversations/follow", "no", "NotFound");
    expect(told).toEqual(["gone"]);
  });

  it("ends its subscription, also one that is named only later", async () => {
    const { wire, feed, told, tell, pass } = start();
    void feed.follow();
    feed.dispose();
    await wire.answer("lares/conversations/follow", { subscription: "s1", seq: 0 });
    expect(wire.asked.at(-1)).toMatchObject({
      method: "lares/conversations/unfollow",
      params: { subscription: "s1" },
    });
    tell("s1", 1);
    pass();
    expect(told).toEqual([]);
  });
});
