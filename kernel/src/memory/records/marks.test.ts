import { expect, test } from "vitest";
import { RecordMarks } from "./marks.ts";

test("more marked records than are told apart count as all of the memory", () => {
  const marks = new RecordMarks();
  for (let at = 0; at < 20_000; at++) marks.add("knowledge", String(at), { foreign: { web: "minds" } });
  marks.add("knowledge", "more", { foreign: { mail: "all" } });
  const all = { web: "minds", mail: "all" };
  expect(marks.of(["another"])).toEqual(all);
  expect(marks.shared()).toEqual([{ items: "all", foreign: all }]);
});
