import { expect, test } from "vitest";
import { Credit, CreditWindow } from "./credit.ts";

test("never more than a window is on its way, and everything arrives", async () => {
  const credit = new Credit();
  const grants: number[] = [];
  const window = new CreditWindow(100, (count) => {
    grants.push(count);
    credit.add(count);
  });
  const way: number[] = [];
  let mostOnTheWay = 0;
  const sending = (async () => {
    for (let sent = 0; sent < 50; sent++) {
      await credit.available();
      credit.take(10);
      way.push(10);
      mostOnTheWay = Math.max(mostOnTheWay, way.length * 10);
    }
  })();
  await Promise.resolve();
  expect(way).toEqual([]);
  window.open();
  let received = 0;
  while (received < 500) {
    await new Promise((resolve) => setImmediate(resolve));
    for (const count of way.splice(0)) {
      received += count;
      window.taken(count);
    }
  }
  await sending;
  expect(mostOnTheWay).toBe(100);
  // In large pieces: at least a quarter of the window each.
  expect(Math.min(...grants)).toBeGreaterThanOrEqual(25);
});
