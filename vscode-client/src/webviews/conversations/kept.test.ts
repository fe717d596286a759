import { expect, it } from "vitest";
import { keptFrom, withDraft } from "./kept.ts";

it("what was kept is read back, and anything else is nothing", () => {
  const kept = {
    id: "c1",
    drafts: [{ id: "c1", text: "half", attached: [{ kind: "file" as const, path: "a.md" }] }],
  };
  expect(keptFrom(structuredClone(kept))).toEqual(kept);
  expect(keptFrom(undefined)).toEqual({ drafts: [] });
  expect(keptFrom({ id: "c1", drafts: "no" })).toEqual({ id: "c1", drafts: [] });
});

it("a conversation has one draft, an empty one is none, and the oldest give way", () => {
  const draft = (id: string, text: string) => ({ id, text, attached: [] });
  expect(withDraft([draft("a", "1"), draft("b", "2")], draft("a", "3"))).toEqual([
    draft("b", "2"),
    draft("a", "3"),
  ]);
  expect(withDraft([draft("a", "1")], draft("a", ""))).toEqual([]);
  const many = Array.from({ length: 30 }, (_, at) => draft(String(at), "x"));
  expect(withDraft(many, draft("new", "x")).length).toBeLessThan(30);
});
