import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { repaired, type Move, Targets } from "./links.ts";
import { scanNote } from "./scan.ts";

const noteOf = ([path, text]: readonly [string, string]) => ({ path, text, links: scanNote(text).links });
const repair = (notes: Record<string, string>, ...moves: Move[]): Record<string, string> =>
  Object.fromEntries(repaired(Object.entries(notes).map(noteOf), moves));

describe("a link leads", () => {
  const paths = ["a.md", "trips/Rome.md", "archive/old/Rome.md", "trips/b.md"];
  test.each([
    ["[x](b.md)", "trips/Rome.md", "trips/b.md"],
    ["[x](../a.md)", "trips/Rome.md", "a.md"],
    ["[x](../../a.md)", "trips/Rome.md", null],
    ["[x](b)", "trips/Rome.md", "trips/b.md"],
    ["[[rome]]", "a.md", "trips/Rome.md"],
    ["[[archive/old/Rome]]", "a.md", "archive/old/Rome.md"],
    ["[[old/Rome]]", "archive/x.md", "archive/old/Rome.md"],
    ["[[Paris]]", "a.md", null],
  ])("%s in %s to %s", (text, from, expected) => {
    const [link] = scanNote(text).links;
    expect(new Targets(paths).of(link!, from)).toBe(expected);
  });
});

describe("after a move", () => {
  test("links to the note follow it, in their own style", () => {
    const text = "[a](rome.md#x) [b](<rome.md>) ![[rome]] [c](rome) [[trips/rome.md|d]]\n\n[e]: rome.md\n";
    expect(
      repair(
        { "trips/a.md": text, "old ones/Roma (1).md": "" },
        { from: "trips/rome.md", to: "old ones/Roma (1).md" },
      ),
    ).toEqual({
      "trips/a.md":
        "[a](../old%20ones/Roma%20%281%29.md#x) [b](<../old ones/Roma (1).md>) ![[Roma (1)]] [c](../old%20ones/Roma%20%281%29) [[old ones/Roma (1).md|d]]\n\n[e]: ../old%20ones/Roma%20%281%29.md\n",
    });
  });

  test("the note's own links lead where they led; other files are left alone", () => {
    expect(
      repair(
        { "x/y/a.md": "[b](b.md) ![p](img/p.png) [gone](gone.md) [w](https://x.y)", "x/b.md": "" },
        { from: "x/a.md", to: "x/y/a.md" },
      ),
    ).toEqual({ "x/y/a.md": "[b](../b.md) ![p](img/p.png) [gone](gone.md) [w](https://x.y)" });
  });

  test("names that still lead there stay, and a link by name gets its folder where another note is nearer", () => {
    const notes = { "a.md": "[[Rome]] [[Paris]]", "x/y/Rome.md": "", "x/y/Paris.md": "", "Paris.md": "" };
    expect(repair(notes, { from: "Rome.md", to: "x/y/Rome.md" })).toEqual({});
    expect(repair({ ...notes, "z/Lyon.md": "" }, { from: "Aix.md", to: "Paris.md" })).toEqual({
      "a.md": "[[Rome]] [[x/y/Paris]]",
    });
  });

  test("a moved folder changes nothing between its notes", () => {
    const notes = { "new/a.md": "[b](b.md) [c](../c.md)", "new/b.md": "[a](a.md)", "c.md": "[a](old/a.md)" };
    const moves = ["a", "b"].map((name) => ({ from: `old/${name}.md`, to: `new/${name}.md` }));
    expect(repair(notes, ...moves)).toEqual({ "c.md": "[a](new/a.md)" });
  });

  test("a name that would end the link is encoded, or the link by name is left alone", () => {
    const text = "[[old]] [a](<old.md>) [b](old.md)";
    expect(repair({ "a.md": text, "x|y]] #>%.md": "" }, { from: "old.md", to: "x|y]] #>%.md" })).toEqual({
      "a.md": "[[old]] [a](<x|y]] %23%3E%25.md>) [b](x%7Cy%5D%5D%20%23%3E%25.md)",
    });
  });

  test("links in code stay", () => {
    expect(
      repair({ "a.md": "`[b](b.md)`\n```\n[[b]]\n```\n", "c.md": "" }, { from: "b.md", to: "c.md" }),
    ).toEqual({});
  });
});

test("whatever moves, each link leads where it led, and nothing else in a note changes", () => {
  const name = fc.constantFrom("a.md", "b.md", "c d.md", "é(1).md", "x/a.md", "x/y/b.md", "z/c.md");
  const target = fc.constantFrom(
    "a.md",
    "b",
    "../b.md",
    "x/a.md",
    "c%20d.md",
    "<c d.md>",
    "p.png",
    "y/b.md#h",
    "no.md",
  );
  const link = fc.oneof(
    target.map((each) => `[l](${each})`),
    fc.constantFrom("[[a]]", "[[B|l]]", "[[x/a]]", "[[c d#h]]", "`[l](a.md)`", "words"),
  );
  const notes = fc.dictionary(
    name,
    fc.array(link, { maxLength: 5 }).map((links) => links.join(" ")),
    { minKeys: 1 },
  );
  fc.assert(
    fc.property(notes, fc.uniqueArray(name), fc.nat(), (before, free, seed) => {
      const paths = Object.keys(before);
      const empty = free.filter((path) => !paths.includes(path));
      const moves = empty.flatMap((to, index) => {
        const from = paths[(seed + index) % paths.length];
        return from !== undefined && index < paths.length ? [{ from, to }] : [];
      });
      const moved = new Map(moves.map(({ from, to }) => [from, to]));
      const now = paths.map((path) => moved.get(path) ?? path);
      const after = Object.fromEntries(paths.map((path) => [moved.get(path) ?? path, before[path] ?? ""]));
      const result = { ...after, ...repair(after, ...moves) };
      const [old, current] = [new Targets(paths), new Targets(now)];
      for (const path of paths) {
        const place = moved.get(path) ?? path;
        const written = scanNote(before[path] ?? "").links;
        const repairedLinks = scanNote(result[place] ?? "").links;
        expect(repairedLinks).toHaveLength(written.length);
        for (const [index, each] of written.entries()) {
          const led = old.of(each, path);
          const leads = current.of(repairedLinks[index]!, place);
          if (led !== null) expect(leads).toBe(moved.get(led) ?? led);
        }
        const words = (text: string): string => text.replace(/\]\(<[^>]*>\)|\]\([^)]*\)|\[\[[^\]|#]*/g, "");
        expect(words(result[place] ?? "")).toBe(words(before[path] ?? ""));
      }
      // Once more, nothing is left to repair.
      expect(repair(result, ...moves.filter(() => false))).toEqual({});
    }),
    { numRuns: 2000 },
  );
});
