import { expect, test } from "vitest";
import { agentNames } from "./agent-names.ts";

test("an agent is shown by its name; one without a name and an unknown one by the id", () => {
  const nameOf = agentNames([
    { id: "dev.lares.notes", name: "Notes" },
    { id: "dev.lares.blank", name: "  " },
  ]);
  expect(["dev.lares.notes", "dev.lares.blank", "dev.lares.gone"].map(nameOf)).toEqual([
    "Notes",
    "dev.lares.blank",
    "dev.lares.gone",
  ]);
});

test.each([["Notes"], ["notes "], ["\uff2eotes"]])(
  "two agents that look alike are shown with their ids: %j",
  (name) => {
    const nameOf = agentNames([
      { id: "a.one", name: "Notes" },
      { id: "b.two", name },
      { id: "c.three", name: "Other" },
    ]);
    expect(["a.one", "b.two", "c.three"].map(nameOf)).toEqual([
      "Notes (a.one)",
      `${name.trim()} (b.two)`,
      "Other",
    ]);
  },
);

test.each([[""], ["Notes"]])("an agent named like another's id is not confused with it: %j", (name) => {
  const nameOf = agentNames([
    { id: "a.one", name },
    { id: "b.two", name: "a.one" },
  ]);
  expect(nameOf("b.two")).toBe("a.one (b.two)");
});

test("the longest name leaves room for its id", () =>
  expect(
    agentNames([
      { id: "a.one", name: "x".repeat(500) },
      { id: "b.two", name: "x".repeat(500) },
    ])("b.two"),
  ).toMatch(/^x{59}… \(b\.two\)$/));
