import { expect, test } from "vitest";
import type { Effect } from "../../base/vocabulary/action.ts";
import { foreignInEffects } from "./foreign.ts";

const isUntrusted = (path: string): boolean => path.startsWith("downloads/");
/** The content "sha256:bad" is tainted wherever it is. */
const tainted: Parameters<typeof foreignInEffects>[0] = {
  ofFiles: async (files) => ({
    places: files.map(({ path }) => path).filter(isUntrusted),
    contents: files.some(({ read }) => read === "sha256:bad") ? ["web"] : [],
  }),
  ofPlaces: async (paths) => paths.filter(isUntrusted),
};
const effect = { summary: "", path: "a", before: "sha256:1", after: null } as const;

test.each<[string, Partial<Effect> & Pick<Effect, "kind">, object]>([
  ["a deletion of a clean file", { kind: "file.delete" }, {}],
  [
    "a deletion in an untrusted place",
    { kind: "file.delete", path: "downloads/a" },
    { "downloads/a": "minds" },
  ],
  ["an edit of a tainted content", { kind: "file.edit", before: "sha256:bad" }, { web: "all" }],
  ["an edit that makes a tainted content", { kind: "file.edit", after: "sha256:bad" }, { web: "all" }],
  ["a new file in an untrusted place", { kind: "file.write", path: "downloads/a", before: null }, {}],
  [
    "a move out of an untrusted place, which shows no content",
    { kind: "file.move", from: "downloads/a", before: "sha256:bad", after: "sha256:bad" },
    { "downloads/a": "minds" },
  ],
  [
    "a field, whose hashes are not a file's",
    { kind: "field.set", path: "downloads/a", before: "sha256:bad" },
    {},
  ],
])("%s shows as much of files", async (_what, changed, foreign) => {
  expect(await foreignInEffects(tainted, [{ ...effect, ...changed }])).toEqual(foreign);
});
