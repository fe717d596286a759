import { expect, onTestFinished, test } from "vitest";
import { silentLog } from "../base/log.ts";
import { openNearDatabase } from "../platform/testing/near-database.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { usage, type UsageReport } from "./usage.ts";
import { UserState } from "./user-state.ts";

async function opened() {
  const state = new UserState({ stateHome: await temporaryFolder(), log: silentLog, open: openNearDatabase });
  onTestFinished(() => state[Symbol.asyncDispose]());
  return usage(state);
}
const subject = { day: "2026-11-23", model: "p/m", agent: "a.b", conversation: "c1" };
const estimate = { inputTokens: 100, outputTokens: 50, microUsd: 1_000 };
const report: UsageReport = {
  inputTokens: 10,
  outputTokens: 5,
  reasoningTokens: 2,
  cacheReadTokens: 3,
  cacheWriteTokens: 4,
  microUsd: 100,
};

test("an unsettled reservation counts in full, a settled one as reported, a released one not at all", async () => {
  const usage = await opened();
  await usage.reserve("r1", subject, estimate, {});
  expect(await usage.sums("day")).toMatchObject([
    { key: "2026-11-23", requests: 1, input_tokens: 100, output_tokens: 50, micro_usd: 1_000 },
  ]);
  await usage.settle("r1", report);
  await usage.reserve("r2", subject, estimate, {});
  await usage.release("r2");
  expect(await usage.sums("model")).toEqual([
    {
      key: "p/m",
      requests: 1,
      input_tokens: 10,
      output_tokens: 5,
      reasoning_tokens: 2,
      cache_read_tokens: 3,
      cache_write_tokens: 4,
      micro_usd: 100,
    },
  ]);
  await expect(usage.settle("r1", report)).rejects.toMatchObject({ code: "Conflict" });
  await expect(usage.release("r2")).rejects.toMatchObject({ code: "Conflict" });
});

test.each([
  ["per_day_usd", { perDayMicroUsd: 1_500 }, 1_000, 1_500],
  ["per_day_tokens", { perDayTokens: 299 }, 150, 299],
  ["per_conversation_usd", { perConversationMicroUsd: 1_999 }, 1_000, 1_999],
  ["per_agent_per_day_usd", { perAgentPerDayMicroUsd: 1_999 }, 1_000, 1_999],
])("%s refuses a request beyond its rest, with the amount spent", async (budget, budgets, spent, limit) => {
  const usage = await opened();
  expect(await usage.reserve("r1", subject, estimate, budgets)).toBeNull();
  expect(await usage.reserve("r2", subject, estimate, budgets)).toEqual({ budget, spent, limit });
  // Tomorrow; another agent, in another conversation.
  const other = { day: "2026-11-24", model: "p/m", agent: "c.d", conversation: "c2" };
  expect(await usage.reserve("r3", other, estimate, budgets)).toBeNull();
  await usage.settle("r1", report);
  expect(await usage.reserve("r4", subject, estimate, budgets)).toBeNull();
});

test("a model without a price counts against token budgets, and has no sum in dollars", async () => {
  const usage = await opened();
  const unpriced = { ...estimate, microUsd: null };
  expect(await usage.reserve("r1", subject, unpriced, { perDayMicroUsd: 0, perDayTokens: 150 })).toBeNull();
  expect(await usage.reserve("r2", subject, unpriced, { perDayTokens: 150 })).toMatchObject({
    budget: "per_day_tokens",
  });
  expect(await usage.sums("conversation")).toMatchObject([{ key: "c1", micro_usd: null }]);
});

test("sums cover the requested days; the first request of a day deletes those that are too old", async () => {
  const usage = await opened();
  for (const day of ["2024-01-01", "2026-11-22", "2026-11-23"]) {
    await usage.reserve(day, { ...subject, day }, estimate, {});
    await usage.settle(day, report);
  }
  const days = async (range = {}) => (await usage.sums("day", range)).map(({ key }) => key);
  expect(await days({ since: "2026-11-22", until: "2026-11-22" })).toEqual(["2026-11-22"]);
  expect(await days()).toEqual(["2026-11-22", "2026-11-23"]);
});

test("fractions and negative counts are refused", async () => {
  const usage = await opened();
  for (const microUsd of [-1, 0.5, Number.NaN, 2 ** 60])
    await expect(usage.reserve("r", subject, { ...estimate, microUsd }, {})).rejects.toThrow(/whole numbers/);
  expect(await usage.sums("agent")).toEqual([]);
});

test("counts that no answer can have fill neither sums nor budgets for good", async () => {
  const usage = await opened();
  const huge = Number.MAX_SAFE_INTEGER;
  for (const [id, count] of [
    ["r1", huge],
    ["r2", huge],
    ["r3", 1e300],
  ] as const) {
    await usage.reserve(id, subject, estimate, {});
    await usage.settle(id, { ...report, inputTokens: count, cacheReadTokens: count, microUsd: count });
  }
  const [sum] = await usage.sums("day");
  expect(sum).toMatchObject({ requests: 3, input_tokens: 3_000_000_000, output_tokens: 15 });
});
