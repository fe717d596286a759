import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Action, Effect } from "../../base/vocabulary/action.ts";
import { fewestColumns, layoutOf, renderReview } from "./render/screen.ts";
import { displayWidth } from "../render/width.ts";
import { anAction } from "../testing/fake-kernel.ts";
import { ReviewWalk } from "../testing/review-walk.ts";
import { choiceOf, partsOf, withHunks } from "./state/parts.ts";

const nowMs = Date.parse("2026-11-22T12:00:00Z");
const hash = `sha256:${"a".repeat(64)}` as const;
const wide = { columns: 100, rows: 34 };
const ago = (minutes: number): string => new Date(nowMs - minutes * 60_000).toISOString();

const diff = `--- a
+++ b
@@ -1,2 +1,5 @@
-Along the river and back, three hours. Bring water in summer.
+# Along the river
+
+Along the river and back. Bring water in summer.
+Duration: three hours.
 Park at the old mill.
@@ -20,2 +23,2 @@
-one
+two
 rest
`;
const edit = (path: string, more: Partial<Effect> = {}): Effect => ({
  kind: "file.edit",
  path,
  before: hash,
  after: hash,
  summary: "",
  ...more,
});
const gone: Effect = {
  kind: "file.delete",
  path: "notes/scratch.md",
  before: hash,
  after: null,
  summary: "",
};

const walks = anAction("09", {
  agent: "dev.lares.notes",
  title: "Give it a title",
  reason: 'The note starts without a heading, so it shows up as "walks.md" in the list of trips.',
  created: ago(2),
  effects: [edit("notes/trips/walks.md", { diff })],
  scopes: [
    { id: "file", title: 'Edits of "notes/trips/walks.md" by dev.lares.notes', rules: [{ decide: "allow" }] },
    {
      id: "folder",
      title: 'Edits in "notes/trips" by dev.lares.notes',
      rules: [{ decide: "allow", path: "notes/trips/**" }],
    },
  ],
  asked_because: { sentence: "No rule decides on edits.", place: { path: "/home/ada/lares.yaml", line: 3 } },
});
const large = anAction("08", {
  agent: "io.acme.rewriter",
  title: "Rewrite all in the house style and drop the old one",
  impact_score: 1,
  created: ago(9),
  effects: [...Array.from({ length: 4 }, (_none, index) => edit(`notes/${index}.md`, { diff })), gone],
});
const move = anAction("07", { created: ago(11) });
const stale = anAction("05", { state: "Stale", rebasable: true, title: "Older", created: ago(30) });
const automatic = anAction("04", {
  state: "Committed",
  decided_by: "policy",
  decided: "2026-11-22T11:30:00.000Z",
  rule: { sentence: "Your rule allows it.", place: { path: "/home/ada/lares.yaml", line: 12 } },
  title: "Tag it",
  created: ago(30),
});
const replaced = anAction("03", { state: "Stale", superseded_by: "09", created: ago(40) });
const all: readonly Action[] = [walks, large, move, stale, automatic, replaced];

const start = (actions = all, size = wide): ReviewWalk => new ReviewWalk(actions, size, { nowMs });

describe("the screen", () => {
  it.each([
    [40, 50],
    [80, 34],
    [100, 34],
    [200, 30],
  ])("%d × %d", (columns, rows) => {
    const walk = start(all, { columns, rows });
    expect(walk.screen).toMatchSnapshot("list");
    walk.press("return");
    expect(walk.screen).toMatchSnapshot("card");
    walk.press("escape", "s");
    expect(walk.screen).toMatchSnapshot("scopes");
  });

  it("is pure ASCII if the terminal supports nothing else", () => {
    const walk = new ReviewWalk([anAction("1", { title: "café 😀", effects: [edit("é.md")] })], wide, {
      isAscii: true,
      nowMs,
    });
    expect(walk.screen).toMatch(/^[\x20-\x7e\n]*$/); // oxlint-disable-line no-control-regex -- the range of what is printed
    expect(walk.screen).toContain("<U+00E9>.md");
  });

  it("has as many lines as the terminal, none too long, for any foreign text", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 300 });
    fc.assert(
      fc.property(
        text,
        text,
        text,
        fc.integer({ min: 1, max: 140 }),
        fc.integer({ min: 1, max: 40 }),
        (title, reason, path, columns, rows) => {
          const action = anAction("1", {
            title,
            reason,
            effects: [edit(path, { diff: `@@ -1 +1 @@\n-${reason}\n+${title}\n` })],
          });
          const walk = start([action], { columns, rows });
          walk.press("return");
          const frame = renderReview(walk.state);
          expect(frame).toHaveLength(rows);
          for (const cells of frame)
            for (const { column, text: shown } of cells) {
              // oxlint-disable-next-line no-control-regex -- nothing that a terminal obeys
              expect(shown).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
              if (columns >= fewestColumns)
                expect(column + displayWidth(shown)).toBeLessThanOrEqual(columns + 1);
            }
        },
      ),
      { numRuns: 60 },
    );
  });

  it("every line of a card can be reached", () => {
    const long = anAction("1", {
      effects: [
        edit("a.md", {
          diff: `@@ -0,0 +1,500 @@\n${Array.from({ length: 500 }, (_none, line) => `+line ${line}`).join("\n")}\n`,
        }),
      ],
    });
    for (const size of [wide, { columns: 40, rows: 12 }]) {
      const walk = start([long], size);
      walk.press("return");
      const { lines } = layoutOf(walk.state).card;
      const seen = new Set<string>();
      for (let page = 0; page < 600; page++) {
        for (const line of walk.screen.split("\n")) seen.add(line.replaceAll(/^│ | *│$/g, "").trimEnd());
        walk.press("down");
      }
      expect(lines.filter((line) => !seen.has(line.trimEnd()))).toEqual([]);
    }
  });
});

describe("approving by a key", () => {
  it("uses the digest that is on the screen", () => {
    const walk = start();
    walk.press("a");
    expect(walk.commands).toMatchObject([{ kind: "approve", id: "09", digest: walks.digest }]);
  });

  it("does nothing before the card is loaded and drawn", () => {
    const walk = start([]);
    walk.send({ kind: "actions", actions: [{ ...walks, id: "unread" }] });
    walk.pressAtOnce("j");
    walk.pressAtOnce("a");
    expect(walk.commands).toEqual([]);
    expect(walk.screen).toContain("still being read");
    walk.send({
      kind: "whole",
      id: "unread",
      whole: { action: { ...walks, id: "unread" }, unread: new Map() },
    });
    walk.pressAtOnce("a");
    expect(walk.commands).toEqual([]);
  });

  it("does not affect the next change if the key is held down", () => {
    const walk = start([walks, move]);
    walk.press("a");
    walk.pressAtOnce("a");
    walk.send({ kind: "decided", verb: "approve", id: "09", action: { ...walks, state: "Committed" } });
    walk.draw();
    walk.pressAtOnce("a");
    expect(walk.commands).toHaveLength(1);
    expect(walk.screen).toContain("This change has only just appeared.");
    walk.press("a");
    expect(walk.commands).toHaveLength(2);
  });

  it("shows every line first, on a narrow screen too", () => {
    for (const size of [
      { columns: 100, rows: 14 },
      { columns: 40, rows: 12 },
    ]) {
      const walk = start([walks], size);
      const { lines } = layoutOf({ ...walk.state, isFull: size.columns < 80 }).card;
      const seen: string[] = [];
      for (let press = 0; walk.commands.length === 0 && press < 60; press++) {
        seen.push(walk.screen);
        walk.press("a");
      }
      expect(walk.commands).toHaveLength(1);
      const shown = seen.join("\n");
      for (const line of lines) expect(shown).toContain(line.trim());
    }
  });

  it("asks again for a large change, and names the deleted files; the same key is not an answer", () => {
    const walk = start([large], { columns: 100, rows: 120 });
    walk.press("a");
    expect(walk.screen).toMatch(/Approve all 5\? 5 files, deletes 1\.[^]*Deletes "notes\/scratch\.md"\./);
    walk.press("a", "return", "space");
    expect(walk.commands).toEqual([]);
    walk.press("y");
    expect(walk.commands).toMatchObject([{ kind: "approve", id: "08" }]);
  });

  it("does nothing to a change that became stale meanwhile", () => {
    const walk = start([walks, move]);
    walk.draw();
    walk.send({ kind: "actions", actions: [{ ...walks, state: "Stale", rebasable: true }] });
    expect(walk.state.current).toBe("09");
    walk.press("a");
    expect(walk.commands).toEqual([]);
    expect(walk.screen).toContain("f fits");
    walk.press("f");
    expect(walk.commands).toEqual([{ kind: "rebase", id: "09" }]);
  });

  it("ignores pasted text", () => {
    const walk = start();
    walk.draw();
    walk.send({ kind: "paste", text: "ay\r" });
    expect(walk.commands).toEqual([]);
  });

  it("remembers a scope by its number", () => {
    const walk = start();
    walk.press("s", "3", "2");
    expect(walk.commands).toMatchObject([{ kind: "approve", rules: [{ path: "notes/trips/**" }] }]);
  });
});

describe("the list", () => {
  it("keeps the focus and its line on the screen when changes arrive", () => {
    const walk = start([walks, move], { columns: 100, rows: 16 });
    walk.press("j");
    const line = (): number => walk.screen.split("\n").findIndex((text) => text.startsWith("│ ▌"));
    const before = line();
    walk.send({ kind: "actions", actions: [anAction("10", { created: ago(0) })] });
    walk.send({ kind: "actions", actions: [anAction("11", { created: ago(0) })] });
    expect(walk.state.current).toBe("07");
    expect(line()).toBe(before);
  });

  it("never selects a large change, and deselects a change that was modified", () => {
    const walk = start();
    walk.press("space", "j", "space", "j", "space");
    expect([...walk.state.selected.keys()]).toEqual(["09", "07"]);
    walk.send({ kind: "actions", actions: [{ ...walks, state: "Stale" }] });
    expect([...walk.state.selected.keys()]).toEqual(["07"]);
    expect(walk.screen).toContain("1 selected change no longer waits.");
  });

  it("approves the selected changes only after one screen listed all their effects", () => {
    const walk = start();
    walk.press("space", "j", "j", "space", "A");
    expect(walk.screen).toContain('Edits "notes/trips/walks.md".');
    expect(walk.commands).toEqual([]);
    walk.press("y");
    expect(walk.commands).toMatchObject([{ id: "09" }, { id: "07" }]);

    const many = Array.from({ length: 30 }, (_none, index) => anAction(String(10 + index)));
    const crowded = start(many, { columns: 80, rows: 24 });
    for (let index = 0; index < 30; index++) crowded.press("space", "j");
    crowded.press("A");
    expect(crowded.state.panel).toBeNull();
    expect(crowded.screen).toContain("Select fewer.");
  });

  it("keys type letters in a text field", () => {
    const walk = start();
    walk.press("r", "n", "a", "y", "return");
    expect(walk.commands).toEqual([{ kind: "reject", id: "09", reason: "nay" }]);
  });

  it("is filtered by file, agent, kind and words, and by several words together", () => {
    const walk = start();
    walk.press("/", ...Array.from("rewriter"));
    expect(walk.screen).not.toContain("walks.md");
    walk.press("escape", "/", ...Array.from("edit"), "space", ...Array.from("trips"), "return");
    expect(walk.screen).toContain("walks.md");
    expect(walk.screen).not.toContain("14 files");
  });

  it("undoes all automatic changes from their heading, after a question", () => {
    const walk = start();
    walk.press("end", "k");
    expect(walk.screen).toContain("▌Applied automatically · 1");
    walk.press("u", "y");
    expect(walk.commands).toEqual([{ kind: "undo", id: "04" }]);
  });
});

describe("parts of a change", () => {
  it("are its hunks, and only the chosen ones are approved", () => {
    const parts = partsOf(walks.effects);
    expect(parts).toEqual([
      { effect: 0, hunk: 0 },
      { effect: 0, hunk: 1 },
    ]);
    const walk = start();
    walk.press("n", "a");
    expect(walk.commands).toMatchObject([{ kind: "approve", hunks: new Map([[0, new Set([1])]]) }]);
    expect(choiceOf(walks, parts, new Set([0, 1]))).toBeNull();
  });

  it("are whole effects if one builds on another", () => {
    expect(partsOf([edit("a.md", { diff }), edit("a.md", { diff })])).toEqual([
      { effect: 0, hunk: null },
      { effect: 1, hunk: null },
    ]);
  });

  it("applied alone change exactly what they show", () => {
    const lines = Array.from({ length: 40 }, (_none, index) => `same ${index % 3}`);
    const before = `${lines.join("\r\n")}\r\n`;
    const after = before.replace("same 1", "ONE").replace(/same 2\r\nsame 0\r\n$/, "END\r\n");
    const patch = `@@ -1,3 +1,3 @@\n same 0\r\n-same 1\r\n+ONE\r\n same 2\r\n@@ -37,4 +37,3 @@\n same 0\r\n same 1\r\n-same 2\r\n-same 0\r\n+END\r\n`;
    const expected = before.replace("same 1", "ONE");
    expect(withHunks(before, after, patch, new Set([0]))).toBe(expected);
    expect(withHunks(before, `${after}more`, patch, new Set([0]))).toBeNull();
  });
});
