import { describe, expect, test } from "vitest";
import { compileFilter } from "./filter.ts";
import { filterMembers, filterWords, type FilterWord } from "./reference.ts";

const names = (words: readonly FilterWord[]): string[] => words.map(({ name }) => name);

test("a filter begins with the event's fields, the fields of every event, and functions", () => {
  const words = names(filterWords("EntryMoved"));
  expect(words).toEqual(
    expect.arrayContaining(["entry", "from", "timestamp", "inGrantedScope", "has", "in"]),
  );
  expect(words).not.toContain("changed_fields");
  expect(words).not.toContain("event");
  expect(names(filterWords("dev.lares.storage/Looked"))).toContain("event");
});

describe("proposals after the dot", () => {
  test.each([
    ["entry", ["path", "size", "isImage"], ["startsWith"]],
    ["entry.path", ["startsWith", "contains", "matches", "size"], ["exists", "getHours"]],
    ["entry.tags", ["exists", "join", "size"], ["startsWith"]],
    ["entry.tags.filter(t, t != '')", ["exists"], ["startsWith"]],
    ["timestamp(entry.modified)", ["getFullYear", "getHours"], ["contains"]],
    ["entry.fields", ["size", "exists"].slice(0, 1), ["contains"]],
    ["somethingElse", ["startsWith", "exists", "getHours"], ["path"]],
    ["(((", ["startsWith"], ["path"]],
  ])("behind %s", (receiver, some, none) => {
    const words = names(filterMembers(receiver, "EntryCreated"));
    expect(words).toEqual(expect.arrayContaining(some));
    for (const name of none) expect(words).not.toContain(name);
  });
});

test("whatever is offered means something to the language, and is described", () => {
  const all = [
    ...filterWords("EntryModified"),
    ...["entry", "entry.path", "entry.tags", "nothing"].flatMap((receiver) => [
      ...filterMembers(receiver, "EntryModified"),
    ]),
  ];
  for (const { name, description, signature } of all) {
    expect(`${name}: ${description}`).toMatch(/: .*\w/);
    expect(signature).not.toBe("");
  }
  for (const { name, kind } of filterMembers("entry", "EntryModified")) {
    const use = kind === "method" ? `entry.${name}()` : `entry.${name} == entry.${name}`;
    expect(compileFilter(use, "EntryModified")).toMatchObject({ ok: true });
  }
});

test.each([
  ["entry.path", 'startsWith("a")'],
  ["entry.path", 'matches("^a")'],
  ["entry.path", 'substring(1) == ""'],
  ["entry.path", 'split("/").size() > 1'],
  ["entry.tags", 'exists(t, t == "a")'],
  ["entry.tags", 'join(",") == ""'],
  ["timestamp(entry.modified)", "getHours() > 3"],
  ["timestamp(entry.modified)", 'getDayOfWeek("Europe/Berlin") == 0'],
])("%s.%s is what its signature says", (receiver, call) => {
  expect(names(filterMembers(receiver, "EntryCreated"))).toContain(/^\w+/.exec(call)?.[0]);
  expect(compileFilter(`${receiver}.${call}`, "EntryCreated")).toMatchObject({ ok: true });
});
