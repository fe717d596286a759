import { describe, expect, test } from "vitest";
import type { MemoryStats } from "../../base/vocabulary/memory-reports.ts";
import {
  type Events,
  type Hits,
  type Items,
  renderCount,
  renderEvents,
  renderHits,
  renderItems,
  renderWorking,
} from "./memory.ts";
import { type Imported, renderImport, renderStats } from "./memory-stats.ts";
import { noStyle, styleFor, type Surface } from "./style.ts";
import { displayWidth } from "./width.ts";

const plain = (width: number): Surface => ({ style: noStyle, width });
const coloured: Surface = { style: styleFor(true), width: 80 };
const local = new Date(2026, 10, 20, 14, 3).toISOString();
const id = (n: number): string => `0199a5c0-0000-7000-8000-00000000000${n}`;

const events: Events = {
  total: 12,
  items: [
    {
      id: id(1),
      variant: "seen",
      timestamp: local,
      data: { path: "photos/sea.jpg", tags: ["beach", "été"] },
    },
    {
      id: id(2),
      variant: "an.unusually.long.name.of.a.variant",
      timestamp: local,
      data: "写真を整理する ".repeat(20),
    },
    { id: id(3), variant: "n", timestamp: local, data: null },
  ],
};
const items: Items = {
  items: [
    {
      id: id(1),
      variant: "Fact",
      data: {},
      text: "The beach is\nclosed on Mondays",
      similarity: 0.934,
      importance: 0.5,
      relations: [{ to: id(2), relation: "Updates" }],
      embedded: true,
    },
    {
      id: id(2),
      variant: "Preference",
      data: { likes: "sea" },
      importance: 1,
      relations: [],
      embedded: false,
    },
  ],
};
const hits: Hits = {
  mode: "hybrid",
  items: [
    {
      id: id(1),
      kind: "temporal",
      score: 0.0325,
      variant: "seen",
      timestamp: local,
      data: { path: "sea.jpg" },
    },
    { id: id(2), kind: "associative", score: 0.0163, variant: "Fact", data: {}, text: "the beach" },
    { id: id(3), kind: "associative", score: 0.001 },
  ],
};
const stats: MemoryStats = {
  records: 1204,
  head: "3f2a".repeat(16),
  sizeBytes: 12_582_912,
  limitBytes: 52_428_800,
  projections: {
    projected: 1200,
    temporal: { events: 900, oldest: local, newest: local },
    knowledge: { items: 300, relations: 1 },
    vectors: {
      engine: "usearch",
      dimensions: 384,
      count: 295,
      hot: 10,
      warm: 200,
      cold: 85,
      pending: 3,
      failed: 2,
    },
    embedder: "hash-384-1",
    rebuilding: { what: "embeddings", fraction: 0.345 },
    bytes: 4_400_000,
  },
};
const imported: Imported = {
  records: 1204,
  head: "3f2a".repeat(16),
  from: "extension/dev.lares.storage",
  created: local,
  first: local,
  last: local,
  bytes: 12_582_912,
  vectors: 295,
  imported: false,
};
const groups = {
  "2026-11-18T00:00:00.000Z": 3,
  "2026-11-20T00:00:00.000Z": 120,
  "2026-11-19T00:00:00.000Z": 1,
};

describe("rendered for people", () => {
  test.each([44, 80, 130])("events, %i columns", (width) =>
    expect(renderEvents(events, plain(width)).join("\n")).toMatchSnapshot(),
  );
  test.each([44, 80, 130])("knowledge, %i columns", (width) =>
    expect(renderItems(items, plain(width)).join("\n")).toMatchSnapshot(),
  );
  test.each([44, 80, 130])("hits, %i columns", (width) =>
    expect(renderHits(hits, plain(width)).join("\n")).toMatchSnapshot(),
  );
  test("working memory", () =>
    expect(
      renderWorking({ revision: 7, state: { pending: ["a"], n: 1 } }, plain(80)).join("\n"),
    ).toMatchSnapshot());
  test.each([30, 80])("counts by day, %i columns", (width) =>
    expect(renderCount({ count: 124, groups }, "day", plain(width)).join("\n")).toMatchSnapshot(),
  );
  test("counts by hour and by variant, and one alone", () => {
    expect(
      renderCount({ count: 4, groups: { "2026-11-20T14:00:00.000Z": 4 } }, "hour", plain(60)).join("\n"),
    ).toMatchSnapshot();
    expect(
      renderCount({ count: 9, groups: { seen: 2, told: 7, never: 0 } }, "variant", plain(60)).join("\n"),
    ).toMatchSnapshot();
    expect(renderCount({ count: 9 }, undefined, plain(60))).toEqual(["9"]);
  });
  test("stats, before and after the first query", () => {
    expect(renderStats("dev.lares.storage", stats, plain(80)).join("\n")).toMatchSnapshot();
    const fresh = { ...stats, records: 0, sizeBytes: 0, projections: null };
    expect(renderStats("dev.lares.storage", fresh, plain(80)).join("\n")).toMatchSnapshot();
  });
  test("the contents of an export", () =>
    expect(renderImport(imported, plain(80)).join("\n")).toMatchSnapshot());
  test("in colour", () => {
    expect(renderEvents(events, coloured).join("\n")).toMatchSnapshot();
    expect(
      renderStats("dev.lares.storage", { ...stats, sizeBytes: 50_000_000 }, coloured).join("\n"),
    ).toMatchSnapshot();
    expect(renderCount({ count: 124, groups }, "day", coloured).join("\n")).toMatchSnapshot();
  });
  test("nothing", () => {
    for (const lines of [
      renderEvents({ items: [], total: 0 }, plain(80)),
      renderItems({ items: [] }, plain(80)),
      renderHits({ items: [], mode: "text" }, plain(80)),
    ])
      expect(lines.join()).toContain("Nothing was found");
  });
});

const evil = "\u001b[2J\u001b]0;owned\u0007\r\n\u202egnp.\u200b\u0085";
const evilData = { [evil]: evil, nested: { [evil]: [evil] }, long: evil.repeat(5000) };
const hostile: readonly (readonly [string, (surface: Surface) => string[]])[] = [
  [
    "events",
    (surface) =>
      renderEvents(
        {
          total: 3,
          items: [evilData, evil, [evil]].map((data) => ({ id: evil, variant: evil, timestamp: evil, data })),
        },
        surface,
      ),
  ],
  [
    "knowledge",
    (surface) =>
      renderItems(
        {
          items: [undefined, evil].map((text) => ({
            id: evil,
            variant: evil,
            data: evilData,
            importance: 1,
            embedded: false,
            ...(text === undefined ? {} : { text }),
            relations: [{ to: evil, relation: evil }],
          })),
        },
        surface,
      ),
  ],
  [
    "hits",
    (surface) =>
      renderHits(
        {
          mode: evil,
          items: [
            { id: evil, kind: evil, score: 1, variant: evil, text: evil },
            { id: evil, kind: "temporal", score: 1, timestamp: evil, data: evilData },
          ],
        },
        surface,
      ),
  ],
  ["counts", (surface) => renderCount({ count: 1, groups: { [evil]: 1, x: 1e15 } }, "variant", surface)],
  ["counts by day", (surface) => renderCount({ count: 1, groups: { [evil]: 1 } }, "hour", surface)],
  [
    "a file",
    (surface) =>
      renderImport({ ...imported, from: evil.repeat(50), created: evil, first: evil, last: evil }, surface),
  ],
  ["working memory", (surface) => renderWorking({ revision: 1, state: evilData }, surface)],
  [
    "stats",
    (surface) => {
      const projections = stats.projections === null ? null : { ...stats.projections, embedder: evil };
      return renderStats(evil, { ...stats, head: evil, projections }, surface);
    },
  ],
];

describe("hostile text", () => {
  test.each(hostile)("in %s is shown without effect", (_, render) => {
    for (const width of [40, 80, 130]) {
      const lines = render(plain(width));
      // oxlint-disable-next-line no-control-regex -- control codes are what this is about
      for (const line of lines) expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200b\u202e]/);
    }
  });
  test.each(hostile.filter(([name]) => !["working memory", "stats", "a file"].includes(name)))(
    "%s stay within the width of a narrow terminal",
    (_, render) => {
      for (const width of [40, 63, 100])
        for (const line of render(plain(width))) expect(displayWidth(line)).toBeLessThanOrEqual(width);
    },
  );
});
