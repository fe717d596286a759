import { describe, expect, it } from "vitest";
import type { Hash } from "@lares/sdk";
import { findGroups, groupOf, type StoredFile } from "./groups.ts";
import { defaults, settingsOf } from "./settings.ts";
import { archivedPath, inUnits, reasonFor, titleOf } from "./wording.ts";

const file = (
  path: string,
  modified = "2026-05-01T10:00:00.000Z",
  content: Hash | null = "sha256:a",
): StoredFile => ({
  path,
  size: 2048,
  modified,
  content_id: content,
});

describe("which copy stays", () => {
  const later = "2026-06-01T10:00:00.000Z";
  const check = (files: StoredFile[], keep: string, because: string) =>
    expect(groupOf(files)).toMatchObject({ keep, because });

  it("prefers a filed copy to one that just arrived, even if it is newer", () =>
    check(
      [file("inbox/sea.jpg"), file("photos/2024/sea.jpg", later)],
      "photos/2024/sea.jpg",
      "it is filed, not in a folder where files arrive",
    ));
  it.each(["a/sea (1).jpg", "a/sea copy.jpg", "a/Sea - Copy.jpg", "a/Copy of sea.jpg", "a/sea_copy 2.jpg"])(
    "prefers one that is not named like a copy: not %s",
    (path) =>
      check(
        [file(path), file("a/longer/name/of/it/sea.jpg", later)],
        "a/longer/name/of/it/sea.jpg",
        "its name is not that of a copy",
      ),
  );
  it("the oldest", () => check([file("a.jpg", later), file("z/z.jpg")], "z/z.jpg", "it is the oldest"));
  it("the shortest path if the times are equal", () =>
    check(
      [file("a/b/c.jpg"), file("z.jpg", "2026-05-01T10:00:01.500Z")],
      "z.jpg",
      "its path is the shortest",
    ));
  it("the first by name if nothing else differs", () =>
    check([file("b.jpg"), file("a.jpg")], "a.jpg", "it comes first by name"));
  it("names every rule that excluded one", () =>
    check(
      [file("tmp/a.jpg"), file("b.jpg", later), file("deep/er/c.jpg")],
      "deep/er/c.jpg",
      "it is filed, not in a folder where files arrive, and it is the oldest",
    ));
  it("does not depend on the order of the files", () => {
    const files = [file("b.jpg"), file("a copy.jpg"), file("inbox/c.jpg", later), file("d/e.jpg", later)];
    expect(groupOf([...files].toReversed())).toEqual(groupOf(files));
  });
});

describe("groups", () => {
  it("exclude archived, hidden, unhashed, empty and unique files; the most wasteful group comes first", () => {
    const big = { ...file("x", undefined, "sha256:b"), size: 9000 };
    const found = findGroups(
      [
        file("a"),
        file("b"),
        file("archive/duplicates/a"),
        file(".cache/a"),
        file("u1", undefined, null),
        file("u2", undefined, null),
        { ...file("e1", undefined, "sha256:e"), size: 0 },
        { ...file("e2", undefined, "sha256:e"), size: 0 },
        file("alone", undefined, "sha256:c"),
        big,
        { ...big, path: "y" },
      ],
      defaults,
    );
    expect(found.map(({ keep, extra }) => [keep, ...extra])).toEqual([
      ["x", "y"],
      ["a", "b"],
    ]);
  });
});

describe("words and paths", () => {
  it("says what, how much and why", () => {
    const group = groupOf([file("photos/sea.jpg"), file("inbox/sea.jpg"), file("inbox/sea (1).jpg")]);
    if (!group) throw new Error("no group");
    expect(titleOf(group)).toBe("Archive 2 extra copies of sea.jpg (4.0 KB)");
    expect(reasonFor(group)).toBe(
      "3 files of 2.0 KB each have the same content. photos/sea.jpg stays: it is filed, not in a folder where files arrive.",
    );
  });
  it.each([
    [1, "1 byte"],
    [999, "999 bytes"],
    [1000, "1.0 KB"],
    [52_428_800, "50 MB"],
  ])("%i bytes are %s", (bytes, words) => expect(inUnits(bytes)).toBe(words));
  it("a name that is taken in the archive gets a number", () => {
    expect(archivedPath("a/b.tar.gz", "old", 1)).toBe("old/a/b.tar.gz");
    expect(archivedPath("a/b.tar.gz", "old", 2)).toBe("old/a/b.tar (2).gz");
    expect(archivedPath("README", "old", 3)).toBe("old/README (3)");
  });
  it("settings fall back to their defaults", () => {
    expect(settingsOf({})).toEqual(defaults);
    expect(settingsOf({ archive: "./old/", large_bytes: -1, max_open: "x" })).toEqual({
      ...defaults,
      archive: "old",
    });
  });
});
