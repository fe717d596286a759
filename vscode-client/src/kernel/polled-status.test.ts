import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { ConnectionState } from "./connection.ts";
import { agent, status } from "../testing/things.ts";
import { FakeWire } from "../testing/wire.ts";
import { PolledStatus, silentMs } from "./polled-status.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

function start(state: ConnectionState = { kind: "up" }) {
  const wire = new FakeWire<ConnectionState>(state);
  const model = new PolledStatus(wire);
  return { wire, model };
}

it("asks at once when the process is up, and often until the kernel is ready", async () => {
  const { wire, model } = start({ kind: "starting" });
  expect(wire.isAsked("lares/status")).toBe(false);
  wire.become({ kind: "up" });
  await wire.answer("lares/status", status({ ready: false }));
  vi.advanceTimersByTime(500);
  await wire.answer("lares/status", status({ ready: true }));
  vi.advanceTimersByTime(500);
  expect(wire.isAsked("lares/status")).toBe(false);
  vi.advanceTimersByTime(10_000);
  expect(wire.isAsked("lares/status")).toBe(true);
  model.dispose();
});

it("many changes of agents cause one request", async () => {
  const { wire, model } = start();
  await wire.answer("lares/status", status());
  for (let index = 0; index < 100; index++) wire.tell("lares/agents/changed", agent());
  vi.advanceTimersByTime(500);
  expect(wire.asked).toHaveLength(1);
  model.dispose();
});

it("a kernel that does not answer in time has no status until it answers", async () => {
  const { wire, model } = start();
  await wire.answer("lares/status", status());
  model.refresh();
  vi.advanceTimersByTime(2_500);
  expect(model.current).toBeUndefined();
  await wire.answer("lares/status", status({ pid: 2 }));
  expect(model.current?.pid).toBe(2);
  model.dispose();
});

it("a refusal, such as Busy while a kernel starts, is retried", async () => {
  const { wire, model } = start();
  await wire.refuse("lares/status", "Busy", "Busy");
  expect(model.current).toBeUndefined();
  vi.advanceTimersByTime(500);
  await wire.answer("lares/status", status());
  expect(model.current).toEqual(status());
  model.dispose();
});

it("a hanging kernel is reported after a bounded time, until it answers", async () => {
  const { wire, model } = start();
  await wire.answer("lares/status", status());
  model.refresh();
  vi.advanceTimersByTime(silentMs - 1);
  expect(model.silence).toBeNull();
  vi.advanceTimersByTime(1);
  expect(model).toMatchObject({ silence: "It has not answered for 10 seconds.", current: undefined });
  await wire.answer("lares/status", status({ pid: 2 }));
  expect(model).toMatchObject({ silence: null, current: { pid: 2 } });
  model.dispose();
});

it("the front's reason for finding no kernel is shown until one answers, also during retries", async () => {
  const { wire, model } = start();
  await wire.refuse("lares/status", "it does not answer", -32_803);
  expect(model.silence).toBe("it does not answer");
  vi.advanceTimersByTime(5_000);
  expect(wire.isAsked("lares/status")).toBe(true);
  vi.advanceTimersByTime(2_500);
  expect(model.silence).toBe("it does not answer");
  await wire.answer("lares/status", status());
  expect(model.silence).toBeNull();
  model.dispose();
});

it("a request that an earlier process never answered blocks nothing, and its late answer is ignored", async () => {
  const { wire, model } = start();
  vi.advanceTimersByTime(silentMs);
  wire.become({ kind: "starting" });
  expect(model.silence).toBeNull();
  wire.become({ kind: "up" });
  expect(wire.asked).toHaveLength(2);
  await wire.answer("lares/status", status({ pid: 1 }));
  expect(model.current).toBeUndefined();
  await wire.answer("lares/status", status({ pid: 2 }));
  expect(model.current?.pid).toBe(2);
  model.dispose();
});
