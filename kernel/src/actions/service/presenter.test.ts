import { expect, test } from "vitest";
import { Slices } from "../../base/slices.ts";
import { countTurns } from "../../base/testing/count-turns.ts";
import type { ApprovalRule } from "../../base/vocabulary/approval-rule.ts";
import type { ApprovalSubject } from "../../policy/approval.ts";
import type { ActionRecord } from "../action-record.ts";
import { ActionPresenter } from "./presenter.ts";

const slicesMs = 5;

/** A view whose clock advances by a millisecond each time it is read. */
function viewWith(rules: readonly ApprovalRule[]): ActionPresenter {
  let nowMs = 0;
  return new ActionPresenter({
    settings: () => ({ rules, autoApproveBelow: 0, expireAfterMs: 60_000 }),
    originOf: () => ({}),
    impactThisHour: () => 0,
    slices: new Slices({ monotonic: () => nowMs++ }, slicesMs),
  });
}

function waiting(subjects: readonly ApprovalSubject[]): ActionRecord {
  return {
    action: {
      id: "01900000-0000-7000-8000-000000000000",
      agent: "a",
      title: "t",
      reason: "r",
      state: "PendingApproval",
      impact_score: 1,
      digest: "sha256:00",
      effects: [],
      created: "2026-01-01T00:00:00.000Z",
    },
    program: "sha256:00",
    operations: [],
    dependsOn: [],
    subjects,
    agentView: null,
    basis: null,
    inverse: null,
    contentsKept: true,
  };
}

const rules: ApprovalRule[] = Array.from({ length: 50 }, (_, at) => ({
  decide: "deny",
  path: `kept/${at}/**`,
}));
const subjects = Array.from({ length: 100 }, (_, at): ApprovalSubject => ({
  kind: "file.write",
  paths: [`${at}.txt`],
  protection: "none",
}));

test("other work gets its turns while an action with many effects is matched with many rules", async () => {
  const { result: shown, turns } = await countTurns(() => viewWith(rules).shown(waiting(subjects)));
  expect(shown.asked_because?.sentence).toBe("Every change is asked (auto_approve_below: 0).");
  // Each rule takes a step for each effect, and each step at least a millisecond.
  expect(turns).toBeGreaterThanOrEqual((rules.length * subjects.length) / slicesMs);
});

test("an action that is shown again is not matched with the same rules again", async () => {
  const view = viewWith(rules);
  const first = await view.shown(waiting(subjects));
  // As if it was read from the ledger again: equal, but not identical.
  const again = subjects.map((subject) =>
    Object.defineProperty({ ...subject }, "paths", {
      get: () => {
        throw new Error("The paths are looked at again.");
      },
    }),
  );
  expect(await view.shown(waiting(again))).toEqual(first);
});
