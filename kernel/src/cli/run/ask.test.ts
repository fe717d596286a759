import { describe, expect, it } from "vitest";
import type { Scope } from "../../base/vocabulary/approval-rule.ts";
import { LaresError } from "../../base/errors.ts";
import { nextPage } from "../render/pages.ts";
import { anAction } from "../testing/fake-kernel.ts";
import { offers, whyNot } from "./ask.ts";
import { maxShownCharacters, wholeAction } from "./whole-action.ts";

const scope: Scope = { id: "kind", title: "This kind", rules: [{ decide: "allow", agent: "x.y" }] };
const values = (left: number, isReadable: boolean, scopes: Scope[] = [scope]): string[] =>
  offers(left, isReadable, scopes).map(({ value }) => value);

describe("the possible answers", () => {
  it("Approve always is offered if there are scopes and the card was shown", () => {
    const scopes = [{ id: "file" as const, title: "a", rules: [{ decide: "allow" as const }] }];
    expect(offers(0, true, scopes).map(({ value }) => value)).toContain("always");
    expect(offers(1, true, scopes).map(({ value }) => value)).not.toContain("always");
    expect(offers(0, true).map(({ value }) => value)).not.toContain("always");
  });

  it("Approve is not offered before the last line was shown, with the reason", () => {
    expect(values(1204, true)).toEqual(["more", "reject", "later"]);
    expect(whyNot({ action: anAction("a"), unread: new Map() }, 1204).join(" ")).toMatch(
      /^1,204 more lines\. Enter shows/,
    );
    expect(values(0, true)).toEqual(["approve", "reject", "always", "later"]);
    expect(whyNot({ action: anAction("a"), unread: new Map() }, 0)).toEqual([]);
  });
  it("Always is not offered for changes that are asked each time", () => {
    expect(values(0, true, [])).toEqual(["approve", "reject", "later"]);
  });
  it("Approve is not offered if a content could not be shown, and the command for it is named", () => {
    const unread = new Map([[0, "It cannot be shown: gone"]]);
    expect(values(0, false)).toEqual(["reject", "later"]);
    expect(whyNot({ action: anAction("a"), unread }, 0).join("\n")).toContain(
      "lares actions approve a --digest sha256:",
    );
  });
  it("pages contain every line once", () => {
    for (const lines of [1, 80, 81, 5000]) {
      let shown = 0;
      for (let left = 1; left > 0;) ({ end: shown, left } = nextPage(lines, shown));
      expect(shown).toBe(lines);
    }
  });
});

describe("an action with all of its contents", () => {
  const hash = `sha256:${"0".repeat(64)}` as const;
  const edit = { kind: "file.edit", path: "a", before: hash, after: hash, summary: "" } as const;
  const action = { ...anAction("a"), effects: [{ ...edit, diff: "there" }, edit, edit] };

  it("has the diffs that the kernel computes", async () => {
    const { action: whole, unread } = await wholeAction(
      { diff: async (_id, effect) => `made ${effect}` },
      action,
    );
    expect(whole.effects.map(({ diff }) => diff)).toEqual(["there", "made 1", "made 2"]);
    expect(unread.size).toBe(0);
  });
  it("names the contents that could not be read or were too long", async () => {
    const gone = await wholeAction(
      { diff: () => Promise.reject(new LaresError("Stale", "The file has changed.")) },
      action,
    );
    expect([...gone.unread.values()]).toEqual(Array(2).fill("It cannot be shown: The file has changed."));
    const much = await wholeAction({ diff: async () => "x".repeat(maxShownCharacters + 1) }, action);
    expect([...much.unread.keys()]).toEqual([2]);
  });
});
