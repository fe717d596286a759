import { expect, test } from "vitest";
import { ManualClock } from "../../base/testing/manual-clock.ts";
import { maxRefusalsPerSecond, RefusalLog } from "./refusal-log.ts";

test("a limited number of refusals a second is logged, the rest by their number; each second starts over", () => {
  const clock = new ManualClock();
  const told: string[] = [];
  using log = new RefusalLog(clock, (message) => void told.push(message));
  for (let count = 0; count < maxRefusalsPerSecond + 7; count++) log.refused(`no ${count}`, {});
  expect(told).toHaveLength(maxRefusalsPerSecond);
  clock.advance(1000);
  expect(told.at(-1)).toBe("refused: 7 more of its calls within the same second");
  log.refused("again", {});
  expect(told.at(-1)).toBe("refused: again");
  clock.advance(1000);
  expect(told).toHaveLength(maxRefusalsPerSecond + 2);
});
