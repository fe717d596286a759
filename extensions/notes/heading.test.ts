import { expect, it } from "vitest";
import { headingFor, wantsHeading, withHeading } from "./heading.ts";

it.each([
  ["notes/grocery-list.md", "Grocery list"],
  ["first_note.md", "First note"],
  ["notes/2026.01 plan.md", "2026.01 plan"],
])("makes a heading from the name: %s", (path, heading) => expect(headingFor(path)).toBe(heading));

it.each([
  ["words", "milk\neggs\n", true],
  ["words after empty lines", "\n\nmilk\n", true],
  ["a heading", "# Milk\n", false],
  ["an underlined heading", "Milk\n====\n", false],
  ["front matter", "---\ntags: []\n---\n", false],
  ["HTML", "<h1>Milk</h1>\n", false],
  ["nothing", "  \n\n", false],
  ["a byte order mark before a heading", "\ufeff# Milk\n", false],
])("reads the beginning of a note: %s", (_name, text, wants) => expect(wantsHeading(text)).toBe(wants));

it("keeps a note's line ends", () => {
  expect(withHeading("milk\n", "Groceries")).toBe("# Groceries\n\nmilk\n");
  expect(withHeading("milk\r\n", "Groceries")).toBe("# Groceries\r\n\r\nmilk\r\n");
});
