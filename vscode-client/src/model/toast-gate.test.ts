import { expect, it } from "vitest";
import { maxToasts, ToastGate, toastWindowMs } from "./toast-gate.ts";

function gateAt() {
  const clock = { now: 0, due: [] as (() => void)[], told: [] as number[] };
  const gate = new ToastGate(
    () => clock.now,
    (run) => clock.due.push(run),
    (count) => clock.told.push(count),
  );
  return { gate, clock };
}

it("shows the first few, and reports the count of the others once", () => {
  const { gate, clock } = gateAt();
  const shown = Array.from({ length: 100 }, () => gate.admits()).filter(Boolean);
  expect(shown).toHaveLength(maxToasts);
  expect(clock.due).toHaveLength(1);
  clock.due[0]?.();
  expect(clock.told).toEqual([100 - maxToasts]);
});

it("shows again after the count was reported", () => {
  const { gate, clock } = gateAt();
  for (let index = 0; index <= maxToasts; index++) gate.admits();
  clock.due[0]?.();
  expect(gate.admits()).toBe(true);
});

it("shows all notifications that come slowly", () => {
  const { gate, clock } = gateAt();
  for (let index = 0; index < 20; index++) {
    clock.now += toastWindowMs;
    expect(gate.admits()).toBe(true);
  }
});
