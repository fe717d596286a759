import { expect, test } from "vitest";
import type { LaresEvent } from "../base/vocabulary/event.ts";
import { EventBus, maxPendingEvents } from "./bus.ts";

const event = (name: string): LaresEvent => ({ name, id: name, timestamp: "2026-01-01T00:00:00.000Z" });
const failing = (error: unknown): void => {
  throw error;
};

test("a listener hears its event, one for all hears every one, until disposed", () => {
  const bus = new EventBus(failing);
  const heard: string[] = [];
  const one = bus.on("A", ({ name }) => heard.push(`A:${name}`));
  bus.on("*", ({ name }) => heard.push(`*:${name}`));
  bus.publish(event("A"));
  bus.publish(event("B"));
  one[Symbol.dispose]();
  bus.publish(event("A"));
  expect(heard).toEqual(["A:A", "*:A", "*:B", "*:A"]);
});

test("what a listener publishes comes after the event it was told, for everyone", () => {
  const bus = new EventBus(failing);
  const heard: string[] = [];
  bus.on("A", () => bus.publish(event("B")));
  bus.on("*", ({ name }) => heard.push(name));
  bus.publish(event("A"));
  expect(heard).toEqual(["A", "B"]);
});

test("a listener that throws is reported and keeps nobody from hearing", () => {
  const reported: unknown[] = [];
  const bus = new EventBus((error, { name }) => reported.push([String(error), name]));
  let heard = 0;
  bus.on("A", () => failing(new Error("broken")));
  bus.on("A", () => void heard++);
  bus.publish(event("A"));
  expect([heard, reported]).toEqual([1, [["Error: broken", "A"]]]);
});

test("listeners that publish two for one are stopped", () => {
  const errors: unknown[] = [];
  const bus = new EventBus((error) => errors.push(error));
  let heard = 0;
  bus.on("A", () => {
    if (++heard > maxPendingEvents * 2) return;
    bus.publish(event("A"));
    bus.publish(event("A"));
  });
  bus.publish(event("A"));
  expect(errors[0]).toMatchObject({ code: "LimitExceeded" });
});
