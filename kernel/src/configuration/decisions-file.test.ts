import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { systemClock } from "../platform/clock.ts";
import { temporaryFolder } from "../platform/testing/temporary-folder.ts";
import { silentLog } from "../base/log.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { DecisionsText } from "../decisions/file-format.ts";
import { Edits, openDecisions } from "./decisions-file.ts";

function fixture(first: DecisionsText) {
  const clock = new ManualClock();
  const file = { text: first };
  const loaded: DecisionsText[] = [];
  const edits = new Edits(
    clock,
    async () => file.text,
    async (text) => void loaded.push(text),
  );
  return { clock, file, loaded, edits };
}

test("an edit counts as soon as the file rests, and not before", async () => {
  const { clock, file, loaded, edits } = fixture("rules: [");
  const noticed = edits.noticed();
  await clock.advanceAsync(50);
  file.text = "rules: []\n";
  await clock.advanceAsync(50);
  expect(loaded).toEqual([]);
  await clock.advanceAsync(100);
  await noticed;
  expect(loaded).toEqual(["rules: []\n"]);
});

test.each([
  ["empty", ""],
  ["gone", null],
  ["half written", "rules:\n  - { decide: al"],
  ["no text", { unusable: "not UTF-8" }],
] as const)(
  "a file that is %s for a second, as on a busy machine, does not count",
  async (_what, between) => {
    const { clock, file, loaded, edits } = fixture(between);
    const noticed = edits.noticed();
    await clock.advanceAsync(1000);
    file.text = "rules: []\n";
    await clock.advanceAsync(1000);
    await noticed;
    expect(loaded).toEqual(["rules: []\n"]);
  },
);

test.each([[""], [null], ["rules: ["]])("%j counts once it stays", async (left) => {
  const { clock, loaded, edits } = fixture(left);
  const noticed = edits.noticed();
  await clock.advanceAsync(2100);
  await noticed;
  expect(loaded).toEqual([left]);
});

const rules = (rule: string): string => `version: 1\ntrust: []\ncurrent: null\nrules:\n  - ${rule}\n`;

test.each<[what: string, text: string]>([
  ["a tag of YAML 1.1", "version: !!merge x"],
  ["a set", "!!set {a, b}"],
  ["a number by its tag", "%YAML 1.1\n---\nversion: !!float 1\n"],
  ["no number", "version: .nan"],
  ["a list as a key", "? [a]\n: b"],
  ["20,000 lists", "[".repeat(20_000)],
  ["20,000 nested items", "- ".repeat(20_000)],
  ["two documents", "--- a\n--- b"],
  ["a control character", "\u0000"],
  ["a rule that is its own alias", rules("&a [*a]")],
  ["a path of bytes", rules("{ decide: allow, path: !!binary aGk= }")],
  ["a path that is a date", rules("{ decide: allow, path: !!timestamp 2026-01-01 }")],
  [
    "wishes of another shape",
    "version: 1\ntrust: [{ digest: x, accepted: a, wishes: { extensions: [] } }]\ncurrent: x\nrules: []",
  ],
])("a file with %s says yes to nothing, and keeps no kernel from starting", async (_what, text) => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "decisions.yaml"), text);
  const { store, close } = await openDecisions(folder, systemClock, silentLog);
  expect(store.rules).toEqual([]);
  expect(store.isAccepted("x" as Hash)).toBe(false);
  expect(store.accepted.extensions).toEqual({});
  close();
});
