import { readFileSync } from "node:fs";
import { mockContext, type MockContext } from "@lares/sdk/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import agent from "./agent.ts";
import { takenOf } from "./exif.ts";
import { sinceOf, wordsOf } from "./when.ts";

const library = new URL("../library/", import.meta.url);
const photo = (path: string): Uint8Array => new Uint8Array(readFileSync(new URL(path, library)));
const paths = [
  "photos/2024/sea-and-dunes/dunes.jpg",
  "photos/2024/sea-and-dunes/sea-at-noon.jpg",
  "photos/2024/north/first-snow.jpg",
  "photos/2023/rome-autumn/city-at-dusk.jpg",
  "photos/2023/rome-autumn/tiber-morning.jpg",
];

/** The agent after it has seen the photographs, each of them twice, because events may be delivered twice. */
async function seen(): Promise<MockContext> {
  const ctx = mockContext({ entries: paths.map((path) => ({ path, media: "image", content: photo(path) })) });
  for (const entry of (await ctx.vdfs.query()).items) {
    await agent.hooks?.["appeared"]?.({ entry } as never, ctx);
    await agent.hooks?.["appeared"]?.({ entry } as never, ctx);
  }
  return ctx;
}
const tool = (ctx: MockContext, name: string, args: object = {}): unknown => agent.tools?.[name]?.(args, ctx);

describe("similar photographs", () => {
  it("finds photographs by their subject, the most similar first", async () => {
    const found = (await tool(await seen(), "like", { about: "dunes by the sea", limit: 2 })) as {
      path: string;
    }[];
    expect(found.map(({ path }) => path)).toEqual([paths[0], paths[1]]);
  });

  it("finds only photographs near a place if one is named", async () => {
    const found = await tool(await seen(), "like", { about: "morning", near: [41.9, 12.5] });
    expect(found).toMatchObject([{ path: paths[4] }, { path: paths[3] }]);
  });
});

describe("what happened", () => {
  it("since a day that mentions some words, newest first, each photograph once", async () => {
    const ctx = await seen();
    expect(await tool(ctx, "happened", { since: "2024-06-01", mentions: "sea" })).toEqual({
      total: 2,
      photos: [
        { taken: "2024-06-22T17:55:40.000Z", path: paths[0] },
        { taken: "2024-06-21T12:30:12.000Z", path: paths[1] },
      ],
    });
    expect(await tool(ctx, "happened")).toMatchObject({ total: 5 });
    expect(await tool(ctx, "happened", { since: "2024-06-22", mentions: "noon" })).toMatchObject({
      total: 0,
    });
  });

  it.each([
    ["monday", "2026-11-16T00:00:00.000Z"],
    ["Friday", "2026-11-20T00:00:00.000Z"],
    ["saturday", "2026-11-14T00:00:00.000Z"],
    ["7d", "7d"],
  ])("since %s is since %s, on a Friday", (text, since) => {
    expect(sinceOf(text, new Date("2026-11-20T15:00:00Z"))).toBe(since);
  });
});

it("knows the places and how many photographs each has; deleted places are gone", async () => {
  const ctx = await seen();
  const rome = { name: "rome autumn", at: [expect.closeTo(41.8925), expect.closeTo(12.4853)] };
  expect(await tool(ctx, "places")).toEqual(expect.arrayContaining([{ ...rome, photos: 2 }]));
  expect(await tool(ctx, "places")).toHaveLength(4);
  const entry = await ctx.vdfs.get(paths[3] ?? "");
  await agent.hooks?.["disappeared"]?.({ entry_id: entry?.id } as never, ctx);
  expect(await tool(ctx, "places")).toEqual(expect.arrayContaining([{ ...rome, photos: 1 }]));
  // The photograph was taken all the same.
  expect(await tool(ctx, "happened", { mentions: "dusk" })).toMatchObject({ total: 1 });
});

describe("EXIF", () => {
  it("is read if a camera wrote it", () => {
    expect(takenOf(photo("photos/2024/sea-and-dunes/sea-at-noon.jpg"))).toEqual({
      time: "2024-06-21T12:30:12.000Z",
      at: [expect.closeTo(43.1332), expect.closeTo(5.9279)],
    });
    expect(takenOf(photo("notes/journal.md"))).toEqual({});
    expect(takenOf(new Uint8Array())).toEqual({});
  });

  it("that is damaged, cut or forged throws nothing and yields no invalid position", () => {
    const whole = photo("photos/2024/north/first-snow.jpg").subarray(0, 2000);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(600), fc.nat(255)), { maxLength: 6 }),
        fc.nat(2000),
        (changes, length) => {
          const bytes = whole.slice(0, length);
          for (const [at, value] of changes) if (at < length) bytes[at] = value;
          const { time, at } = takenOf(bytes);
          if (time !== undefined) expect(new Date(time).toISOString()).toBe(time);
          if (at !== undefined) expect(Math.abs(at[0]) <= 90 && Math.abs(at[1]) <= 180).toBe(true);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

it("reads what a path says", () => {
  expect(wordsOf("photos/2024/sea-and-dunes/sea-at-noon.jpg")).toBe("sea and dunes, sea at noon");
  expect(wordsOf("photos/2024/1.jpg")).toBe("");
});
