import { expect, it } from "vitest";
import type { Effect } from "../protocol.ts";
import { effect } from "../testing/things.ts";
import { pathMovedOn } from "./drift.ts";

const one = `sha256:${"1".repeat(64)}` as const;
const two = `sha256:${"2".repeat(64)}` as const;

const driftOf = (
  effects: readonly Effect[],
  files: Readonly<Record<string, Effect["before"] | undefined>>,
): Promise<string | undefined> => pathMovedOn(effects, async (path) => (path in files ? files[path] : null));

it.each<[string, Partial<Effect>, Record<string, Effect["before"] | undefined>, string | undefined]>([
  ["a file that is as it was", { before: one }, { "notes/a.md": one }, undefined],
  ["a file that was changed", { before: one }, { "notes/a.md": two }, "notes/a.md"],
  ["a file that is gone", { before: one }, {}, "notes/a.md"],
  ["a new file whose place is free", { kind: "file.write", before: null }, {}, undefined],
  [
    "a new file whose place was taken",
    { kind: "file.write", before: null },
    { "notes/a.md": two },
    "notes/a.md",
  ],
  ["a file that cannot be read", { before: one }, { "notes/a.md": undefined }, undefined],
  ["a move, by where it starts", { kind: "file.move", before: one, from: "b.md" }, { "b.md": two }, "b.md"],
  [
    "a tag, which is no matter of the text",
    { kind: "tag.add", before: one },
    { "notes/a.md": two },
    undefined,
  ],
])("%s", async (_name, given, files, drifted) => {
  expect(await driftOf([effect(given)], files)).toBe(drifted);
});

it("an effect on top of another starts from its result", async () => {
  const effects = [effect({ before: one, after: two }), effect({ before: two })];
  expect(await driftOf(effects, { "notes/a.md": one })).toBeUndefined();
  const moved = [
    effect({ kind: "file.move", before: one, from: "b.md", path: "notes/a.md" }),
    effect({ before: one, after: two }),
  ];
  expect(await driftOf(moved, { "b.md": one })).toBeUndefined();
});
