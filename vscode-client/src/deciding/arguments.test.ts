import { expect, it } from "vitest";
import { actionArgument, agentArgument } from "./arguments.ts";

it.each<[string, unknown, unknown]>([
  ["an id", "a", { id: "a" }],
  [
    "a button's or a lens's",
    { id: "a", digest: "d", effects: [0, 2] },
    { id: "a", digest: "d", effects: [0, 2] },
  ],
  [
    "a tree's item",
    { id: "action a", action: { id: "a", digest: "d", effect: 1 } },
    { id: "a", digest: "d" },
  ],
  ["effects that are no indices", { id: "a", effects: [0.5] }, { id: "a" }],
  [
    "more effects than there can be",
    { id: "a", effects: Array.from({ length: 2000 }, () => 0) },
    { id: "a" },
  ],
  ["nothing", undefined, undefined],
  ["something else", { uri: "file:///a" }, undefined],
])("an action by %s", (_name, given, expected) => {
  expect(actionArgument(given)).toEqual(expected);
});

it.each<[string, unknown, unknown]>([
  ["an id", "a", "a"],
  ["a lens's", { id: "a", command: "reload" }, "a"],
  ["a tree's item", { id: "agent a", agent: "a" }, "a"],
  ["nothing", undefined, undefined],
  ["something else", { id: 7 }, undefined],
])("an agent by %s", (_name, given, expected) => {
  expect(agentArgument(given)).toEqual(expected);
});
