import { afterAll, expect, test } from "vitest";
import { silentLog } from "../../kernel/src/base/log.ts";
import type { Subject } from "../../kernel/src/conformance/ports.ts";
import type { RuleResult } from "../../kernel/src/conformance/results.ts";
import { runConformance } from "../../kernel/src/conformance/scenarios/run.ts";
import { manifest, soundGuest, violatingGuests } from "../../kernel/src/conformance/testing/guests.ts";
import { defaultAgentLimits } from "../../kernel/src/documents/limits.ts";
import { systemClock } from "../../kernel/src/platform/clock.ts";
import { createSandboxHost } from "../../kernel/src/sandbox/host/sandbox-host.ts";

const memoryMb = 16;
const sandbox = createSandboxHost({ clock: systemClock, log: silentLog });
sandbox.prewarm(memoryMb);
afterAll(() => sandbox[Symbol.asyncDispose]());

/** Timeout for an answer that never comes. A handmade guest answers within milliseconds. */
const patience = { promptMs: 3000, initializeMs: 5000, answerMs: 5000, exitMs: 3000, ruleMs: 60_000 };

function run(bytes: Uint8Array, more: Partial<Subject> = {}): Promise<RuleResult[]> {
  const subject: Subject = {
    extension: { id: "test.guest", version: "1.0.0" },
    permissions: {},
    limits: defaultAgentLimits,
    manifest,
    start: () => sandbox.start({ kind: "wasm", bytes }, { agent: "test.guest", maxMemoryMb: memoryMb }),
    ...more,
  };
  return runConformance(subject, { clock: systemClock, patience });
}

const withStatus = (results: readonly RuleResult[], status: RuleResult["status"]): string[] =>
  results.filter((result) => result.status === status).map(({ rule, detail }) => `${rule}: ${detail}`);

let rules: string[] = [];
test("a sound guest holds every rule, and every rule applies to it", async () => {
  const results = await run(soundGuest());
  rules = results.map(({ rule }) => rule);
  expect(withStatus(results, "violated")).toEqual([]);
  expect(withStatus(results, "not_applicable")).toEqual([]);
});

test("there is a violating guest for each rule", () => {
  expect(Object.keys(violatingGuests).toSorted()).toEqual(rules.toSorted());
});

test("without a manifest nothing is said about hooks and tools", async () => {
  const results = await run(soundGuest(), { manifest: null });
  expect(withStatus(results, "violated")).toEqual([]);
  const left = results.filter(({ status }) => status === "not_applicable").map(({ rule }) => rule);
  expect(left).toEqual(["manifest-handlers", "hooks", "hook-order", "questions", "tools", "actions"]);
});

test.each(Object.entries(violatingGuests))(
  "a guest that violates %s fails that rule alone",
  async (rule, make) => {
    const results = await run(make());
    const failed = withStatus(results, "violated");
    expect(
      failed.map((each) => each.split(":")[0]),
      failed.join("\n"),
    ).toEqual([rule]);
  },
);
