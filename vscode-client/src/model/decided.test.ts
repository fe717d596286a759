import { describe, expect, it } from "vitest";
import type { Action } from "../protocol.ts";
import { action, effect } from "../testing/things.ts";
import { decidedAt, decidedTitle, decidedWord } from "./decided.ts";

const at = (hour: number): string => new Date(2026, 0, 1, hour, 5).toISOString();

describe("the outcome of an action", () => {
  it.each<[Partial<Action>, string]>([
    [{ state: "PendingApproval" }, "Waiting"],
    [{ state: "Approved" }, "Being applied"],
    [{ state: "Committing" }, "Being applied"],
    [{ state: "Committed", decided_by: "user" }, "Applied"],
    [{ state: "Committed", decided_by: "policy" }, "Applied automatically"],
    [{ state: "Committed", decided_by: "user", edited_by: "user" }, "Applied with your edits"],
    [
      {
        state: "Committed",
        edited_by: "user",
        effects: [effect(), effect()],
        receipt: { applied: [1], finished: at(1) },
      },
      "Applied (1 of 2) with your edits",
    ],
    [{ state: "Stale" }, "Out of date"],
    [{ state: "Stale", superseded_by: "other" }, "Replaced"],
    [{ state: "Rejected" }, "Rejected"],
    [{ state: "Failed" }, "Failed"],
    [{ state: "Expired" }, "Expired"],
    [{ state: "Undone" }, "Undone"],
  ])("%j is “%s”", (given, word) => expect(decidedWord(action(given))).toBe(word));
});

describe("when that was", () => {
  const receipt = { applied: [0], finished: at(9) };
  it.each<[string, Partial<Action>, string]>([
    ["nothing while it waits", { state: "PendingApproval", decided: at(8) }, ""],
    ["when it was applied", { state: "Committed", decided: at(8), receipt }, "09:05"],
    [
      "when it was undone, not when it was applied",
      { state: "Undone", decided: at(8), ended: at(10), receipt },
      "10:05",
    ],
    ["when it was rejected", { state: "Rejected", decided: at(8) }, "08:05"],
    ["nothing where it is no time", { state: "Rejected", decided: "soon" }, ""],
    ["nothing where it is not known", { state: "Stale" }, ""],
  ])("is %s", (_name, given, time) => {
    expect(decidedAt(action(given))).toBe(time);
    expect(decidedTitle(action(given))).toBe([decidedWord(action(given)), time].filter(Boolean).join(" "));
  });
});
