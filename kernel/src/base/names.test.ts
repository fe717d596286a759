import { expect, test } from "vitest";
import { newId } from "./ids.ts";
import { foldName, isGitName, isStagingName, stagingName } from "./names.ts";

test.each([".git", ".GIT", ".g\u200dit", "git~1", "GIT~2", ".git.", ".git ", ".git::$DATA"])(
  "%j is .git",
  (name) => {
    expect(isGitName(name)).toBe(true);
  },
);

test.each([".gitignore", "git", ".github", "agit~1", ".git-x"])("%j is not", (name) => {
  expect(isGitName(name)).toBe(false);
});

test("names fold as on a lenient file system", () => {
  expect(foldName("LARE\u017f.YAML")).toBe("lares.yaml");
  expect(foldName("e\u0301")).toBe("\u00e9");
});

test("a staging name is recognized", () => {
  expect(isStagingName(stagingName(newId(), 12))).toBe(true);
  expect(isStagingName(".lares-notes")).toBe(false);
  expect(isStagingName(".lares")).toBe(false);
});
