import { expect, test } from "vitest";
import { Entry } from "../base/vocabulary/entry.ts";
import { eventOfChange } from "./changes.ts";
import { commonFields, entryFields, eventNames, eventType, isCustomEvent } from "./types.ts";

test("a filter knows every field of an entry", () => {
  expect(Object.keys(entryFields).toSorted()).toEqual(Object.keys(Entry.properties).toSorted());
});

const stamp = { id: "1", timestamp: "2026-01-01T00:00:00.000Z" };
const entry = { location: "photos" } as Entry;
for (const change of [
  { kind: "created", entry, origin: "live" },
  { kind: "modified", entry, changed_fields: ["size"], origin: "index" },
  { kind: "moved", entry, from: "a", origin: "live" },
  { kind: "deleted", entry_id: "7", path: "a", origin: "live" },
  { kind: "tag_added", entry, tag: "t", origin: "live" },
  { kind: "tag_removed", entry, tag: "t", origin: "live" },
] as const) {
  test(`an entry that was ${change.kind} becomes an event with just the declared fields`, () => {
    const event = eventOfChange(change, stamp);
    const declared = { ...commonFields, ...eventType(event.name)?.fields };
    expect(Object.keys(event).toSorted()).toEqual(Object.keys(declared).toSorted());
  });
}

for (const [name, custom] of [
  ["com.example.photos/PersonIdentified", true],
  ["dev.lares.filetypes/Counted_2", true],
  ["PersonIdentified", false],
  ["photos/PersonIdentified", false],
  ["com.example/9x", false],
  ["com.example/a/b", false],
  ...eventNames.map((builtIn) => [builtIn, false] as const),
] as const) {
  test(`${name} is ${custom ? "" : "not "}a custom event`, () => expect(isCustomEvent(name)).toBe(custom));
}
