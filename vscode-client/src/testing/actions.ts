import type { Action, Effect } from "../protocol.ts";

/** An action that waits for an answer; what a test says otherwise counts. */
export function anAction(given: Partial<Action> = {}): Action {
  return {
    id: "0199c0de-0000-7000-8000-000000000001",
    agent: "dev.lares.notes",
    title: "Give first-note.md a title",
    reason: "It starts without a heading.",
    state: "PendingApproval",
    impact_score: 0.1,
    digest: `sha256:${"0".repeat(64)}`,
    effects: [anEffect()],
    created: "2026-01-01T00:00:00.000Z",
    ...given,
  };
}

export function anEffect(given: Partial<Effect> = {}): Effect {
  return {
    kind: "file.edit",
    path: "notes/first-note.md",
    before: `sha256:${"a".repeat(64)}`,
    after: `sha256:${"b".repeat(64)}`,
    summary: "Change notes/first-note.md",
    ...given,
  };
}
