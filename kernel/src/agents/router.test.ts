import { describe, expect, it } from "vitest";
import type { LaresEvent } from "../base/vocabulary/event.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import { asSeenBy, deliveriesFor, locationOf, type RouterOptions } from "./router.ts";
import { definitionOf } from "./testing/fake-guest.ts";
import { entryAt } from "./testing/sight-test.ts";

function authorityFor(change: Partial<Authority>): Authority {
  return { ...definitionOf().authority, ...change };
}

const options: RouterOptions = {
  clock: new ManualClock(),
  eventOf: (change) =>
    change.kind === "created"
      ? {
          id: `created ${change.entry.path}`,
          name: "EntryCreated",
          timestamp: "t",
          entry: change.entry,
          location: ".",
        }
      : { id: "other", name: "Other", timestamp: "t" },
  onFilterError: () => undefined,
};

describe("what an agent is told", () => {
  const event = (fields: Record<string, unknown>, name = "EntryCreated"): LaresEvent => ({
    id: "e",
    name,
    timestamp: "t",
    ...fields,
  });
  const check = (
    name: string,
    seen: LaresEvent,
    authority: Partial<Authority>,
    expected: object | null,
  ): void =>
    it(name, () => {
      const told = asSeenBy(authorityFor(authority), seen);
      if (expected === null) expect(told).toBeNull();
      else expect(told).toMatchObject(expected);
    });

  check(
    "an entry in its folder, by that folder",
    event({ entry: entryAt("notes/a.md") }),
    { locations: ["notes"] },
    {
      entry: { path: "notes/a.md", location: "notes" },
      location: "notes",
    },
  );
  check(
    "nothing of another folder",
    event({ entry: entryAt("private/a.md") }),
    { locations: ["notes"] },
    null,
  );
  check(
    "nothing of a folder that begins alike",
    event({ entry: entryAt("notes-private/a.md") }),
    { locations: ["notes"] },
    null,
  );
  check(
    "nothing without the permission to read",
    event({ entry: entryAt("notes/a.md") }),
    { locations: ["notes"], effective: {} },
    null,
  );
  check(
    "nothing that its own filter leaves out",
    event({ entry: entryAt("notes/a.md") }),
    { locations: ["notes"], effective: { read_entries: { filter: "*.jpg" } } },
    null,
  );
  check("nothing of .git", event({ entry: entryAt(".git/config") }), {}, null);
  check(
    "not where a moved entry came from, if that is not its business",
    event({ entry: entryAt("notes/a.md"), from: "private/a.md" }, "EntryMoved"),
    { locations: ["notes"] },
    {
      from: "",
    },
  );
  check(
    "no time at which a name came or went in a folder",
    event({ entry: { ...entryAt("notes"), kind: "folder", created: "then", modified: "now" } }),
    {},
    { entry: { ...entryAt("notes"), kind: "folder", created: "then", modified: "then" } },
  );
  check(
    "where a moved entry came from, inside its folder",
    event({ entry: entryAt("notes/b.md"), from: "notes/a.md" }, "EntryMoved"),
    { locations: ["notes"] },
    {
      from: "notes/a.md",
    },
  );
  check(
    "no deletion elsewhere",
    event({ entry_id: "x", path: "private/a.md" }, "EntryDeleted"),
    { locations: ["notes"] },
    null,
  );
  check(
    "a deletion in its folder",
    event({ entry_id: "x", path: "notes/a.md" }, "EntryDeleted"),
    { locations: ["notes"] },
    { path: "notes/a.md" },
  );
});

it("a custom event is its publisher's word: what it calls an entry is not looked at", () => {
  const event = { id: "e", name: "dev.other/Found", timestamp: "t", entry: { path: 5 } };
  expect(asSeenBy(authorityFor({ locations: [] }), event)).toBe(event);
});

it("the innermost granted folder is the location", () => {
  const authority = authorityFor({ locations: [".", "photos", "photos/2024"] });
  expect(locationOf(authority, "photos/2024/a.jpg")).toBe("photos/2024");
  expect(locationOf(authority, "photos/a.jpg")).toBe("photos");
  expect(locationOf(authority, "notes/a.md")).toBe(".");
});

it("a folder whose name is one character is a location as any other", () => {
  const authority = authorityFor({ locations: ["a"] });
  expect(locationOf(authority, "a/b.md")).toBe("a");
  expect(locationOf(authorityFor({ locations: [".", "a"] }), "a")).toBe("a");
  expect(
    asSeenBy(authority, { id: "e", name: "EntryCreated", timestamp: "t", entry: entryAt("a/b.md") }),
  ).toMatchObject({
    location: "a",
  });
});

it("each hook that accepts gets the event, with its own handler; a filter that fails is said and does not pass", () => {
  const errors: string[] = [];
  const definition = definitionOf({
    hooks: [
      { handler: "one", on: "EntryCreated", accepts: () => ({ passed: true }) },
      { handler: "two", on: "EntryCreated", accepts: () => ({ passed: false, error: "no such field" }) },
      {
        handler: "three",
        on: "EntryCreated",
        accepts: (_event, inScope) => ({ passed: inScope("notes/a.md") }),
      },
      { handler: "four", on: "EntryModified", accepts: () => ({ passed: true }) },
    ],
  });
  const event = { id: "e", name: "EntryCreated", timestamp: "t", entry: entryAt("notes/a.md") };
  const deliveries = deliveriesFor(definition, event, "live", {
    ...options,
    onFilterError: (_agent, hook, message) => errors.push(`${hook.handler}: ${message}`),
  });
  expect(deliveries.map(({ payload }) => payload.handler)).toEqual(["one", "three"]);
  expect(errors).toEqual(["two: no such field"]);
});
