import { expect, test } from "vitest";
import { agentIdOf, agentNamed, oneNamed } from "./one-named.ts";

const items = [
  { id: "01920000-0000-7000-8000-0000000000a1", title: "Archive sea.jpg" },
  { id: "01920000-0000-7000-8000-0000000000b2", title: "Archive dunes.jpg" },
  { id: "01930000-0000-7000-8000-0000000000c3", title: "Give a title\u202e to each note" },
];
const named = (given: string, list = items): string =>
  oneNamed(list, given, {
    noun: "change",
    nouns: "changes",
    listing: "lares actions",
    id: ({ id }) => id,
    title: ({ title }) => title,
  }).id.slice(-2);

test.each([
  ["01920000-0000-7000-8000-0000000000a1", "a1"],
  ["A1", "a1"],
  ["0193", "c3"],
  ["Archive sea.jpg", "a1"],
  ["archive d", "b2"],
  ["Give a title", "c3"],
])("%s names one", (given, id) => expect(named(given)).toBe(id));

test("a whole title wins over the beginning of another", () => {
  expect(named("archive", [...items, { id: "x-d4", title: "Archive" }])).toBe("d4");
});

test("what can mean several is refused with the candidates, and nothing is chosen", () => {
  expect(() => named("archive")).toThrow(
    '"archive" can mean 2 changes: 000000a1 "Archive sea.jpg", 000000b2 "Archive dunes.jpg". Write more',
  );
  const many = Array.from({ length: 9 }, (_none, at) => ({ id: `${at}-x`, title: `same\u001b ${at}` }));
  expect(() => named("same", many)).toThrow(/can mean 9 changes: 0-x "same\u241b 0".*and 4 more/);
});

test.each(["", " ", "zz", "chive", "019"])("%j names none", (given) => {
  expect(() => named(given)).toThrow(/lares actions" lists/);
});

const agents = [
  { id: "dev.lares.photos", name: "Photos" },
  { id: "dev.lares.steward", name: "Lares' steward" },
  { id: "com.example.steward", name: "Another" },
];

test("an agent is named by its id, the last word of it, or its name", async () => {
  expect(agentNamed(agents, "photos").id).toBe("dev.lares.photos");
  expect(agentNamed(agents, "another").id).toBe("com.example.steward");
  expect(() => agentNamed(agents, "steward")).toThrow(/2 agents: .*dev\.lares\.steward/);
  expect(() => agentNamed(agents, "nobody")).toThrow(
    'No agent is called "nobody". Use one of dev.lares.photos, dev.lares.steward, com.example.steward.',
  );
  expect(() => agentNamed([], "nobody")).toThrow("There is none here.");
  const kernel = { agents: () => Promise.resolve(agents) };
  expect(await agentIdOf(kernel, "photos")).toBe("dev.lares.photos");
  // It may have been removed, and what it did is still listed.
  expect(await agentIdOf(kernel, "com.example.gone")).toBe("com.example.gone");
  expect(await agentIdOf(kernel, undefined)).toBeUndefined();
});
