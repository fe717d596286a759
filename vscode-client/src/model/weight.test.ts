import { describe, expect, it } from "vitest";
import type { Effect } from "../protocol.ts";
import { effect } from "../testing/things.ts";
import { extentText, impactSentence, largeFiles, weightOf } from "./weight.ts";

const edits = (amount: number): Effect[] =>
  Array.from({ length: amount }, (_, index) => effect({ path: `${index}.md` }));
const deletion = effect({ kind: "file.delete", path: "old.md", after: null });
const move = effect({ kind: "file.move", path: "b.md", from: "a.md" });

describe("how closely a person should look before approving", () => {
  it.each<[string, number, Effect[], object]>([
    ["small", 0.29, edits(1), { level: 1, showsFirst: false, isAlone: false }],
    ["medium by its score", 0.3, edits(1), { level: 2, showsFirst: true, isAlone: false }],
    ["large by its score", 0.7, edits(1), { level: 3, showsFirst: true, isAlone: true }],
    ["almost large by its files", 0, edits(largeFiles - 1), { level: 1, isAlone: false }],
    ["large by its files, whatever its score", 0, edits(largeFiles), { level: 3, isAlone: true }],
    ["a deletion is never in a batch, however small", 0, [deletion], { level: 2, isAlone: true }],
    ["a deletion among others", 0, [...edits(1), deletion], { showsFirst: true, isAlone: true }],
    ["a move alone", 0, [move], { level: 1, isAlone: false }],
    ["many effects on one file", 0, Array(largeFiles * 2).fill(effect()), { level: 1, isAlone: false }],
  ])("%s", (_name, impact_score, effects, weight) => {
    expect(weightOf({ impact_score, effects })).toMatchObject(weight);
  });
});

it.each<[Effect[], string, string]>([
  [edits(1), "1 file", "Changes 1 file."],
  [
    [deletion, ...edits(2), move],
    "4 files, deletes 1, moves 1",
    "Deletes 1 file, changes 2 files and moves 1 file.",
  ],
  [
    [effect({ kind: "file.write", before: null }), effect({ kind: "file.write" })],
    "1 file",
    "Changes 1 file and creates 1 file.",
  ],
  [[effect({ kind: "tag.add" }), effect({ kind: "tag.add" })], "1 file", "Adds 2 tags."],
  [[], "0 files", "Changes nothing."],
])("what would be gone is said first: %#", (effects, extent, sentence) => {
  expect([extentText(effects), impactSentence(effects)]).toEqual([extent, sentence]);
});
