import { describe, expect, it } from "vitest";
import type { Entry } from "../base/vocabulary/entry.ts";
import type { LaresEvent } from "../base/vocabulary/event.ts";
import type { Authority } from "../base/vocabulary/permissions.ts";
import { decideHearing, locationOf, type HearingIndex } from "./hearing.ts";

const entries = new Set(["notes/a.md", "private/diary.md", "private", "secret.txt"]);
const index: HearingIndex = {
  isEntry: (path) => entries.has(path),
  hides: (path) => path.endsWith(".hidden"),
};

function authorityFor(change: Partial<Authority>): Authority {
  return {
    extension: "dev.hearer",
    requested: {},
    effective: { read_entries: true },
    denied: [],
    locations: ["."],
    protectedPaths: [],
    forbiddenPaths: [],
    memory: true,
    namespaces: {},
    ...change,
  };
}

function entryAt(path: string): Entry {
  return {
    id: `id of ${path}`,
    path,
    name: path.slice(path.lastIndexOf("/") + 1),
    kind: "file",
    media: "text",
    extension: "md",
    mime: "text/markdown",
    size: 1,
    created: "2026-11-20T12:00:00.000Z",
    modified: "2026-11-20T12:00:00.000Z",
    content_id: null,
    tags: [],
    fields: {},
    sidecars: [],
    location: ".",
  };
}

/** Returns the event as the agent receives it; null if it does not. */
function asHeard(authority: Authority, event: LaresEvent): LaresEvent | null {
  const hearing = decideHearing(authority, event, index);
  return hearing.heard ? hearing.event : null;
}

describe("events for an agent", () => {
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
      const told = asHeard(authorityFor(authority), seen);
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
  check("nothing about a hidden entry", event({ entry: entryAt("notes/a.hidden") }), {}, null);
  check(
    "except its deletion",
    event({ path: "notes/a.hidden" }, "EntryDeleted"),
    {},
    { path: "notes/a.hidden" },
  );
  check(
    "not where a moved entry came from, if that is hidden",
    event({ entry: entryAt("notes/b.md"), from: "notes/a.hidden" }, "EntryMoved"),
    {},
    { from: "" },
  );
  check(
    "not where a moved entry came from, if that is outside its locations",
    event({ entry: entryAt("notes/a.md"), from: "private/a.md" }, "EntryMoved"),
    { locations: ["notes"] },
    {
      from: "",
    },
  );
  check(
    "no time at which a name appeared or disappeared in a folder",
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
  check("no built-in event that has no rule", event({ secret: 1 }, "SomethingNew"), {}, null);
  check("no event named like an inherited property", event({}, "toString"), {}, null);
});

describe("a custom event", () => {
  const custom = (fields: Record<string, unknown>, name = "dev.other/Found"): LaresEvent => ({
    ...fields,
    id: "e",
    name,
    timestamp: "t",
  });
  const notes = (hear_events: readonly string[] = ["dev.other/*"]): Authority =>
    authorityFor({ locations: ["notes"], effective: { read_entries: true, hear_events: [...hear_events] } });
  const check = (name: string, event: LaresEvent, isHeard: boolean, authority = notes()): void =>
    it(name, () => expect(asHeard(authority, event)).toEqual(isHeard ? event : null));

  describe("is received only with hear_events", () => {
    check("by its name", custom({}), true, notes(["dev.other/Found"]));
    check("by its publisher", custom({}), true, notes(["dev.other/*"]));
    check("not without", custom({}), false, notes([]));
    check("not by another name", custom({}), false, notes(["dev.other/Lost"]));
    check("not by another publisher", custom({}), false, notes(["dev.others/*", "dev/*", "*"]));
    check("not if it was requested and not granted", custom({}), false, {
      ...notes([]),
      requested: { hear_events: ["dev.other/*"] },
    });
    check(
      "an agent's own is received without it, whatever it names",
      custom({ path: "private/diary.md" }, "dev.hearer/Found"),
      true,
      notes([]),
    );
    check("not an own one of a longer id", custom({}, "dev.hearer.more/Found"), false, notes([]));
  });

  describe("that names an entry is received by agents that can see the entry", () => {
    const hidden = "private/diary.md";
    check("an entry", custom({ entry: entryAt("notes/a.md") }), true);
    check(
      "not another's entry, nor the text beside it",
      custom({ entry: entryAt(hidden), text: "Dear" }),
      false,
    );
    check("not however deep it is", custom({ a: [{ b: [{ entry: { path: hidden } }] }] }), false);
    check("not by a path that is no longer an entry", custom({ path: "private/gone.md" }), false);
    check("not by a path in other words", custom({ file_path: hidden }), false);
    check("not by newPath", custom({ newPath: "private/new.md" }), false);
    check("not in a list of paths", custom({ paths: ["notes/a.md", hidden] }), false);
    check("not under a meaningless name", custom({ what: hidden }), false);
    check("not as a key", custom({ sizes: { [hidden]: 17 } }), false);
    check("not spelt with ./", custom({ what: "./private//diary.md" }), false);
    check("not by an absolute path", custom({ path: "/home/ada/notes/a.md" }), false);
    check("not by a file's URI", custom({ uri: "file:///home/ada/secret.txt" }), false);
    check("not at the top", custom({ what: "secret.txt" }), false);
    check("not by the path of a hidden entry", custom({ path: "notes/a.hidden" }), false);
    check("not with a place in it", custom({ what: "private/diary.md:12:3", at: "#L3" }), false);
    check("not with a fragment", custom({ what: "private/diary.md#monday" }), false);
    check("not with backslashes", custom({ what: "private\\diary.md" }), false);
    check("not encoded", custom({ what: "private%2Fdiary%2emd" }), false);
    check("not between blanks", custom({ what: " private/diary.md\n" }), false);
    check("not by the end of an absolute path", custom({ what: "/home/ada/work/private/diary.md" }), false);
    check("not by the end of a path with a drive", custom({ what: "C:\\work\\private\\diary.md" }), false);
    check("not by a URI in capitals", custom({ what: "FILE:///home/ada/secret.txt" }), false);
    check("its own entry with a place in it", custom({ what: "notes/a.md:12", at: "/w/notes/a.md" }), true);
    check("an address whose end is not an entry", custom({ url: "https://example.org/a/b.html?q=1" }), true);
    check("not without read_entries", custom({ path: "notes/a.md" }), false, {
      ...notes(),
      effective: { hear_events: ["dev.other/*"] },
    });
    check(
      "words that name no entry are words",
      custom({ mime: "image/png", text: "private things", n: 1.5 }),
      true,
    );
    check("a single word is a word, even if a folder has this name", custom({ kind: "private" }), true);
  });

  it("of any depth is decided without the call stack", () => {
    let data: unknown = { path: "private/diary.md" };
    for (let depth = 0; depth < 100_000; depth++) data = [data];
    expect(decideHearing(notes(), custom({ data }), index)).toMatchObject({ heard: false });
  });
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
    asHeard(authority, { id: "e", name: "EntryCreated", timestamp: "t", entry: entryAt("a/b.md") }),
  ).toMatchObject({
    location: "a",
  });
});

describe("the end of an agent's own action", () => {
  const ended = (fields: Record<string, unknown>): LaresEvent => ({
    id: "e",
    name: "ActionEnded",
    timestamp: "t",
    action: "1",
    title: "Tidy",
    state: "Stale",
    paths: ["notes/a.md", "private/diary.md"],
    ...fields,
  });

  it("is received in full if the agent sees its entries", () => {
    expect(asHeard(authorityFor({}), ended({}))).toEqual(ended({}));
  });

  it("is withheld once one of its paths is no longer granted", () => {
    expect(asHeard(authorityFor({ locations: ["notes"] }), ended({}))).toBe(null);
    expect(asHeard(authorityFor({ locations: [] }), ended({ state: "Rejected" }))).toBe(null);
  });

  it("shows only that the action could not be carried out once the agent cannot see a path", () => {
    const blind = authorityFor({ effective: { read_entries: { filter: "a.md" } } });
    expect(asHeard(blind, ended({}))).toEqual(ended({ state: "Failed" }));
    const replaced = ended({ superseded_by: "2" });
    expect(asHeard(blind, replaced)).toEqual(replaced);
    const rejected = ended({ state: "Rejected", reason: "Not mine" });
    expect(asHeard(blind, rejected)).toEqual(rejected);
  });
});
