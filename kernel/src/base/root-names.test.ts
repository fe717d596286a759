import { expect, it } from "vitest";
import { rootNames } from "./root-names.ts";

it.each<[string, readonly string[], readonly string[]]>([
  ["by their own names", ["/a/notes", "/b/photos"], ["notes", "photos"]],
  ["two of one name by a number", ["/a/photos", "/b/photos"], ["photos", "photos-2"]],
  ["the same numbers in another order", ["/b/photos", "/a/photos"], ["photos-2", "photos"]],
  ["a number that is taken is not given", ["/a/x", "/b/x", "/c/x-2"], ["x", "x-2", "x-2-2"]],
  ["Windows' folders", ["C:\\Users\\me\\notes"], ["notes"]],
  ["a file system's root", ["/"], ["root"]],
])("%s", (_name, paths, names) => {
  expect(rootNames(paths)).toEqual(names);
});
