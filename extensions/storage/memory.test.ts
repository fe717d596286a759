import { describe, expect, it } from "vitest";
import type { ActionState, Hash } from "@lares/sdk";
import { maxAsked, nothingYet, unasked, withAsked, withLarge, type Asked, type LargeFile } from "./memory.ts";

const asked = (state: ActionState, paths: string[], content_id: Hash = "sha256:a"): Asked => ({
  content_id,
  paths,
  action: `${state}-${paths.join()}`,
  state,
});

describe("earlier proposals", () => {
  const cases: [state: ActionState, again: boolean, left: string[]][] = [
    ["PendingApproval", false, ["c"]],
    ["PendingApproval", true, ["c"]],
    ["Committing", false, ["c"]],
    ["Rejected", false, ["c"]],
    ["Rejected", true, ["b", "c"]],
    ["Undone", false, ["c"]],
    ["Committed", false, ["b", "c"]],
    ["Expired", false, ["b", "c"]],
    ["Stale", false, ["b", "c"]],
    ["Failed", false, ["b", "c"]],
  ];
  it.each(cases)("%s, asked again: %s → left %j", (state, again, left) => {
    expect(unasked(["b", "c"], "sha256:a", [asked(state, ["b"])], { again })).toEqual(left);
  });

  it("does not confuse contents", () => {
    expect(unasked(["b"], "sha256:z", [asked("Rejected", ["b"])], { again: false })).toEqual(["b"]);
  });

  it("drops completed proposals before rejected ones", () => {
    let memory = withAsked(nothingYet(), asked("Rejected", ["first"]));
    for (let n = 0; n < maxAsked; n++) memory = withAsked(memory, asked("Committed", [`${n}`]));
    expect(memory.asked).toHaveLength(maxAsked);
    expect(memory.asked[0]).toEqual(asked("Rejected", ["first"]));
  });
});

describe("large files", () => {
  const file = (id: string, alone: boolean): LargeFile => ({
    id,
    path: id,
    size: 9,
    content_id: null,
    alone,
  });

  it("are reported once, and again only after a second copy existed in between", () => {
    const first = withLarge(nothingYet(), [file("a", true), file("b", false)]);
    expect(first.alone.map(({ id }) => id)).toEqual(["a"]);
    const second = withLarge(first.memory, [file("a", true), file("b", true)]);
    expect(second.alone.map(({ id }) => id)).toEqual(["b"]);
    const copied = withLarge(second.memory, [file("a", false)]);
    expect(withLarge(copied.memory, [file("a", true)]).alone.map(({ id }) => id)).toEqual(["a"]);
  });
});
