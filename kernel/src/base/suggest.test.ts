import { expect, test } from "vitest";
import { closest, didYouMean } from "./suggest.ts";

const events = ["EntryCreated", "EntryModified", "EntryDeleted", "TagAdded"];

for (const [name, meant] of [
  ["EntryCraeted", "EntryCreated"],
  ["entrycreated", "EntryCreated"],
  ["EntryModifed", "EntryModified"],
  ["TagAddd", "TagAdded"],
  ["FileOpened", undefined],
  ["", undefined],
  ["x".repeat(10_000), undefined],
] as const) {
  test(`${JSON.stringify(name.slice(0, 20))} means ${meant ?? "nothing here"}`, () => {
    expect(closest(name, events)).toBe(meant);
  });
}

test("is worded to be appended to a sentence", () => {
  expect(`There is no event "TagAddd"${didYouMean("TagAddd", events)}`).toBe(
    'There is no event "TagAddd"; did you mean "TagAdded"?',
  );
  expect(didYouMean("zzz", events)).toBe("");
});
