import { describe, expect, it } from "vitest";
import {
  areMarked,
  countedAll,
  countedOne,
  markChanged,
  maxTypes,
  needsFullCount,
  noCounts,
  summarise,
  Tally,
  typesOfPath,
  unmark,
  type TypeCount,
} from "./counts.ts";

const type = (extension: string, files: number, bytes = files * 10): TypeCount => ({
  extension,
  media: "other",
  files,
  bytes,
});

describe("the types of a path", () => {
  const cases: [path: string, types: string[]][] = [
    ["photos/sea.JPG", ["jpg"]],
    ["a.b/Makefile", [""]],
    ["archive.tar.gz", ["gz"]],
    ["notes/.env", ["", "env"]],
    ["odd.", [""]],
  ];
  it.each(cases)("%s", (path, types) => expect(typesOfPath(path)).toEqual(types));
});

describe("counting", () => {
  it("counts files by type, the most numerous first, and ignores folders", () => {
    const tally = new Tally();
    tally.add({ kind: "file", extension: "md", media: "text", size: 5 });
    tally.add({ kind: "file", extension: "jpg", media: "image", size: 100 });
    tally.add({ kind: "folder", extension: "", media: "other", size: 0 });
    tally.add({ kind: "file", extension: "jpg", media: "image", size: 50 });
    expect(tally.result()).toEqual([
      { extension: "jpg", media: "image", files: 2, bytes: 150 },
      { extension: "md", media: "text", files: 1, bytes: 5 },
    ]);
  });

  it("keeps a type called __proto__ as a type like any other", () => {
    const tally = new Tally();
    tally.add({ kind: "file", extension: "__proto__", media: "other", size: 1 });
    expect(tally.result()).toEqual([{ extension: "__proto__", media: "other", files: 1, bytes: 1 }]);
  });

  it("marks a type once however often the event comes", () => {
    const once = markChanged(noCounts(), ["md"]);
    expect(markChanged(once, ["md"])).toEqual(once);
    expect(areMarked(once, ["md"])).toBe(true);
    expect(areMarked(once, ["md", "jpg"])).toBe(false);
  });

  it("replaces one type's count; a mark set while it was counted stays", () => {
    const before = markChanged(countedAll(noCounts(), [type("jpg", 3), type("md", 2)], "t"), ["md", "jpg"]);
    const counting = markChanged(unmark(before, ["md", "jpg"]), ["jpg"]);
    const after = countedOne(counting, "md", type("md", 5));
    expect(after.types).toEqual([type("md", 5), type("jpg", 3)]);
    expect(after.changed).toEqual(["jpg"]);
    expect(countedOne(after, "jpg", null).types).toEqual([type("md", 5)]);
  });

  it("keeps the totals right beyond the types it lists, and then counts everything again", () => {
    const many = Array.from({ length: maxTypes + 3 }, (_, index) => type(`t${index}`, 1));
    const counts = countedAll(noCounts(), many, "t");
    expect(counts.types).toHaveLength(maxTypes);
    expect(summarise(counts, 2)).toEqual({
      total: maxTypes + 3,
      bytes: (maxTypes + 3) * 10,
      by_type: [type("t0", 1), type("t1", 1)],
      types: maxTypes + 3,
    });
    expect(needsFullCount(counts)).toBe(true);
    expect(needsFullCount(countedAll(noCounts(), [type("md", 1)], "t"))).toBe(false);
    expect(needsFullCount(noCounts())).toBe(true);
  });
});
