import { expect, test } from "vitest";
import { eachOnce, placeOfFile, placeOfTable } from "./text-places.ts";

const namesOf = (...found: Parameters<typeof eachOnce>[0]): string[] =>
  eachOnce(found).map(({ name }) => name);

test("a conversation whose log and index have a text is named once, by its id", () => {
  const index = placeOfTable("conversation_entries");
  const log = placeOfFile("conversations/c1/segment");
  expect(namesOf(index, placeOfTable("conversations"), log, placeOfFile("conversations/c1/other"))).toEqual([
    "c1",
  ]);
  expect(namesOf(index, placeOfTable("conversations"))).toEqual(["of this folder"]);
});
