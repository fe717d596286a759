import { expect, it } from "vitest";
import type { Action, Effect } from "../protocol.ts";
import { action, effect } from "../testing/things.ts";
import { Drift, maxFiles } from "./drift.ts";

const one = `sha256:${"1".repeat(64)}` as const;
const two = `sha256:${"2".repeat(64)}` as const;

async function driftOf(
  effects: readonly Effect[],
  files: Readonly<Record<string, Effect["before"] | undefined>>,
): Promise<string | undefined> {
  const drift = new Drift(
    () => [action({ effects: [...effects] })],
    async (path) => (path in files ? files[path] : null),
  );
  await drift.look();
  return drift.pathOf("action-1");
}

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

it("an effect on top of another starts from what that one leaves", async () => {
  const effects = [effect({ before: one, after: two }), effect({ before: two })];
  expect(await driftOf(effects, { "notes/a.md": one })).toBeUndefined();
  const moved = [
    effect({ kind: "file.move", before: one, from: "b.md", path: "notes/a.md" }),
    effect({ before: one, after: two }),
  ];
  expect(await driftOf(moved, { "b.md": one })).toBeUndefined();
});

it("tells of a change once, and looks at so many files and no more", async () => {
  let asked = 0;
  let told = 0;
  const actions: Action[] = Array.from({ length: maxFiles + 50 }, (_, index) =>
    action({ id: `a${index}`, effects: [effect({ path: `f${index}`, before: one })] }),
  );
  const drift = new Drift(
    () => actions,
    async () => {
      asked++;
      return two;
    },
  );
  drift.onDidChange(() => told++);
  await drift.look();
  await drift.look();
  expect([asked, told]).toEqual([2 * maxFiles, 1]);
  expect(drift.pathOf(`a${maxFiles}`)).toBeUndefined();
});
