import { describe, expect, test } from "vitest";
import type { Entry } from "../../base/vocabulary/entry.ts";
import { entriesPerPiece, InitialSyncs, type ShownLocation, type AnnouncedEntry } from "./initial-sync.ts";
import type { AgentDefinition } from "../ports.ts";
import type { RoutedDelivery } from "./router.ts";
import { agentWith, entryAt, lineOf, sightRouting } from "../testing/sight-test.ts";

type Row = readonly [what: string, row: ShownLocation | AnnouncedEntry];
const agent = "dev.test.agent";

/** What is stored, and what a next kernel reads of it. */
class Bed {
  readonly entries = new Map<string, Entry>();
  /** Each a transaction. */
  readonly stored: string[][] = [];
  readonly shown = new Set<string>();
  readonly announced = new Set<string>();
  definition: AgentDefinition | null;
  /** Before each transaction. */
  storing = (_lines: readonly string[]): void => undefined;

  constructor(locations: readonly string[], paths: readonly string[]) {
    this.definition = agentWith(locations);
    for (const path of paths) this.entries.set(path, entryAt(path));
  }

  sights(): InitialSyncs<Row> {
    const row =
      (what: string) =>
      (one: ShownLocation | AnnouncedEntry): Row => [what, one];
    return new InitialSyncs<Row>({
      statements: {
        shown: row("shown"),
        forgotten: row("forgotten"),
        announced: row("told"),
        withdrawn: row("untold"),
        settled: row("settled"),
      },
      alreadyShown: [...this.shown].map((location) => ({ agent, location })),
      alreadyAnnounced: [...this.announced].map((announced) => {
        const [location = "", entry = ""] = announced.split("|");
        return { agent, location, entry };
      }),
      allEntries: () => this.entries.values(),
      store: (deliveries, rows) => this.store(deliveries, rows),
      routing: sightRouting,
    });
  }

  async store(deliveries: readonly RoutedDelivery[], rows: readonly Row[]): Promise<void> {
    const lines = deliveries.map(lineOf);
    this.storing(lines);
    await Promise.resolve();
    for (const [what, one] of rows) {
      const key = `${one.location}|${"entry" in one ? one.entry : ""}`;
      if (what === "shown") this.shown.add(one.location);
      else if (what === "forgotten") this.shown.delete(one.location);
      else if (what === "told" && !this.shown.has(one.location)) this.announced.add(key);
      else if (what === "untold") this.announced.delete(key);
      else if (what === "settled")
        for (const other of this.announced)
          if (other.startsWith(`${one.location}|`)) this.announced.delete(other);
    }
    this.stored.push(lines);
  }

  show(sights: InitialSyncs<Row>, why: "run" | "new" = "run"): Promise<void> {
    return sights.show(agent, () => this.definition, 1, why);
  }

  get lines(): string[] {
    return this.stored.flat();
  }
}

const paths = ["notes", "notes/a.md", "notes/b.md", "photos", "photos/c.md"];
const created = (path: string, origin: "live" | "index" = "live") =>
  ({ kind: "created", entry: entryAt(path), origin }) as const;
const manyPaths = Array.from({ length: 2 * entriesPerPiece + 10 }, (_, n) => `notes/${n}.md`);

describe("the initial sync of existing entries", () => {
  test("is each entry of a location, then that location's IndexComplete, then the next", async () => {
    const bed = new Bed(["notes", "photos"], paths);
    await bed.show(bed.sights());
    expect(bed.lines).toEqual([
      "notes",
      "notes/a.md",
      "notes/b.md",
      "IndexComplete notes 3",
      "photos",
      "photos/c.md",
      "IndexComplete photos 2",
    ]);
    expect([...bed.shown]).toEqual(["notes", "photos"]);
    expect([...bed.announced]).toEqual([]);
  });

  test("is not repeated for a synced location; its IndexComplete is sent with each run", async () => {
    const bed = new Bed(["notes", "photos"], paths);
    bed.shown.add("notes");
    const sights = bed.sights();
    await bed.show(sights);
    await bed.show(sights, "new");
    expect(bed.lines).toEqual(["photos", "photos/c.md", "IndexComplete photos 2", "IndexComplete notes 3"]);
  });

  test("counts only entries that the agent may see", async () => {
    const bed = new Bed([], paths);
    bed.definition = agentWith(["notes"], "a.*");
    await bed.show(bed.sights());
    expect(bed.lines).toEqual(["notes/a.md", "IndexComplete notes 1"]);
  });

  test("skips entries that were reported live meanwhile, also before a restart; a deleted and restored entry is new", async () => {
    const bed = new Bed(["notes"], paths);
    const before = bed.sights();
    const announced = before.meet(bed.definition!, created("notes/a.md"));
    expect(announced.isNews).toBe(true);
    expect(before.meet(bed.definition!, created("notes/b.md", "index"))).toEqual({
      isNews: false,
      statements: [],
    });
    await bed.store([], announced.statements);
    const gone = {
      kind: "deleted",
      entry_id: "id of notes/a.md",
      path: "notes/a.md",
      origin: "live",
    } as const;
    const after = bed.sights();
    await bed.store([], after.meet(bed.definition!, gone).statements);
    const again = bed.sights().meet(bed.definition!, created("notes/a.md"));
    expect(again.isNews).toBe(true);
    await bed.store([], again.statements);
    await bed.show(bed.sights());
    expect(bed.lines).toEqual(["notes", "notes/b.md", "IndexComplete notes 3"]);
  });
});

describe("in pieces", () => {
  test("no transaction has more than one piece", async () => {
    const bed = new Bed(["notes"], manyPaths);
    await bed.show(bed.sights());
    expect(bed.stored.map(({ length }) => length)).toEqual([entriesPerPiece, entriesPerPiece, 10, 1]);
    expect(bed.lines).toEqual([...manyPaths, `IndexComplete notes ${manyPaths.length}`]);
  });

  test("an entry that is created, deleted or found between two pieces is reported once, or not at all", async () => {
    const bed = new Bed(["notes"], manyPaths);
    const sights = bed.sights();
    const live: string[] = [];
    const meet = (path: string, origin: "live" | "index"): void => {
      if (sights.meet(bed.definition!, created(path, origin)).isNews) live.push(path);
    };
    let pieces = 0;
    bed.storing = () => {
      pieces += 1;
      if (pieces > 4) return;
      bed.entries.delete(`notes/${entriesPerPiece + 5 + pieces}.md`);
      for (const origin of ["live", "index"] as const) {
        const path = `notes/${origin}-${pieces}.md`;
        bed.entries.set(path, entryAt(path));
        meet(path, origin);
      }
      // Told of by a piece, before its own creation came by.
      meet("notes/0.md", "live");
    };
    await bed.show(sights);
    const announced = [...bed.lines.slice(0, -1), ...live];
    expect(new Set(announced).size).toBe(announced.length);
    expect(new Set([...bed.entries.keys()].filter((path) => !announced.includes(path)))).toEqual(new Set());
    expect(announced).not.toContain(`notes/${entriesPerPiece + 6}.md`);
    expect(live).toContain("notes/live-1.md");
    expect(live).not.toContain("notes/0.md");
  });

  test("an entry that is found while the last piece is stored is reported at once", async () => {
    const bed = new Bed(["notes"], paths);
    const sights = bed.sights();
    let isNews = false;
    bed.storing = ([line]) => {
      if (line?.startsWith("IndexComplete") === true)
        isNews = sights.meet(bed.definition!, created("notes/new.md", "index")).isNews;
    };
    await bed.show(sights);
    expect(isNews).toBe(true);
  });

  test("a revoked location ends it; granted again, everything is reported", async () => {
    const bed = new Bed(["notes"], manyPaths);
    const sights = bed.sights();
    let isTaken = false;
    bed.storing = () => {
      if (isTaken) return;
      isTaken = true;
      bed.definition = agentWith([]);
    };
    await bed.show(sights);
    expect(bed.stored.map(({ length }) => length)).toEqual([entriesPerPiece]);
    await bed.store([], sights.forgetUngranted(bed.definition!));
    expect([...bed.announced]).toEqual([]);
    bed.definition = agentWith(["notes"]);
    await bed.show(sights, "new");
    expect(bed.lines.slice(entriesPerPiece)).toEqual([
      ...manyPaths,
      `IndexComplete notes ${manyPaths.length}`,
    ]);
  });

  test.each([1, 2, 3, 4])(
    "the disk fails at transaction %i: the rest is reported the next time, and nothing twice",
    async (fatal) => {
      const bed = new Bed(["notes"], manyPaths);
      const sights = bed.sights();
      let transactions = 0;
      bed.storing = () => {
        transactions += 1;
        if (transactions === fatal) throw new Error("No space left on device.");
      };
      await expect(bed.show(sights)).rejects.toThrow("No space");
      // By the same kernel, or by the next.
      await bed.show(fatal % 2 === 0 ? sights : bed.sights());
      expect(bed.lines).toEqual([...manyPaths, `IndexComplete notes ${manyPaths.length}`]);
    },
  );
});

test("two that show the same agent at once tell it everything once", async () => {
  const bed = new Bed(["notes"], manyPaths);
  const sights = bed.sights();
  await Promise.all([bed.show(sights), bed.show(sights, "new")]);
  expect(bed.lines).toEqual([...manyPaths, `IndexComplete notes ${manyPaths.length}`]);
});
