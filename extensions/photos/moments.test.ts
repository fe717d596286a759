import type { Entry } from "@lares/sdk";
import { describe, expect, it } from "vitest";
import { Gazetteer } from "./gazetteer.ts";
import type { Position } from "./geo.ts";
import { sundayOf, weekendMemory } from "./memories.ts";
import { momentsOf } from "./moments.ts";
import { photoOf, stateOf, timeOf, type Photo } from "./photo.ts";
import { placesOf } from "./places.ts";
import { titleOf } from "./titles.ts";

const gazetteer = new Gazetteer(
  ["Lisbon\t38.72\t-9.13\tPT\t518", "Rome\t41.89\t12.51\tIT\t2319", "Munich\t48.14\t11.58\tDE\t1260"].join(
    "\n",
  ),
);
const rome: Position = [41.8902, 12.4922];
const lisbon: Position = [38.7139, -9.1394];
const munich: Position = [48.1374, 11.5755];
let made = 0;
const photo = (
  time: string | undefined,
  at?: Position,
  path = `photos/${made}.jpg`,
  tags: string[] = [],
): Photo => ({
  id: `00000${made++}`,
  path,
  tags,
  ...(time === undefined ? {} : { time: Date.parse(`${time}Z`) }),
  ...(at === undefined ? {} : { at }),
  needsFacts: false,
  needsLook: false,
});
const moments = (photos: readonly Photo[]) =>
  momentsOf(photos, placesOf(photos, gazetteer, { km: 2, least: 2 }));
const titles = (photos: readonly Photo[]) =>
  moments(photos).map(({ title, photos: { length } }) => `${title}: ${length}`);

describe("moments", () => {
  it("end with a pause, and where the next photo is far away", () => {
    expect(
      titles([
        photo("2024-05-03T14:00:00", rome),
        photo("2024-05-03T15:00:00"),
        photo("2024-05-03T15:30:00", rome),
        photo("2024-05-03T17:30:00", munich),
        photo("2024-05-03T18:00:00", munich),
        photo("2024-05-10T09:00:00"),
        photo(undefined, rome),
      ]),
    ).toEqual(["Afternoon in Rome: 3", "Afternoon in Munich: 2", "Morning of 10 May 2024: 1"]);
  });

  it("days in one place are one journey", () => {
    const days = ["2024-05-06", "2024-05-07", "2024-05-08"];
    const photos = days.flatMap((day) => [
      photo(`${day}T10:00:00`, lisbon),
      photo(`${day}T21:00:00`, lisbon),
    ]);
    expect(titles(photos)).toEqual(["Three days in Lisbon: 6"]);
    expect(titles([photo("2024-05-04T10:00:00", rome), photo("2024-05-05T12:00:00", rome)])).toEqual([
      "Weekend in Rome: 2",
    ]);
  });

  it("days at home are separate moments", () => {
    const days = Array.from({ length: 25 }, (_, n) =>
      new Date(Date.UTC(2024, 0, 1 + n)).toISOString().slice(0, 10),
    );
    const photos = days.flatMap((day) => [
      photo(`${day}T08:00:00`, munich),
      photo(`${day}T19:00:00`, munich),
    ]);
    const found = titles(photos);
    expect(found).toHaveLength(25);
    expect(found[0]).toBe("Day in Munich: 2");
  });

  it("keep their ids when later photos are added", () => {
    const first = [photo("2024-05-03T14:00:00", rome), photo("2024-05-03T15:00:00", rome)];
    const [before] = moments(first);
    const [after] = moments([
      ...first,
      photo("2024-05-03T16:00:00", rome),
      photo("2024-06-03T16:00:00", rome),
    ]);
    expect(after?.id).toBe(before?.id);
  });

  it("a clock that jumps splits a moment and makes none that lasts for years", () => {
    const jumping = ["14:00", "14:10", "14:20"].map((at, n) =>
      photo(`${n === 1 ? 2009 : 2024}-05-03T${at}:00`, rome),
    );
    const found = moments(jumping);
    expect(found.map(({ photos: { length } }) => length)).toEqual([1, 2]);
    for (const { from, to } of found) expect(to - from).toBeLessThan(24 * 3_600_000);
  });
});

describe("titles", () => {
  const title = (from: string, to: string, placeName?: string, path = "a.jpg", tags: string[] = []) =>
    titleOf({ from: Date.parse(`${from}Z`), to: Date.parse(`${to}Z`), photos: [{ path, tags }], placeName });
  it.each([
    ["2024-05-03T06:00", "2024-05-03T09:00", "Morning in Rome"],
    ["2024-05-03T19:00", "2024-05-03T21:00", "Evening in Rome"],
    ["2024-05-03T23:00", "2024-05-04T01:00", "Night in Rome"],
    ["2024-05-03T09:00", "2024-05-03T18:00", "Day in Rome"],
    ["2024-05-03T09:00", "2024-05-15T18:00", "13 days in Rome"],
  ])("%s to %s: %s", (from, to, expected) => expect(title(from, to, "Rome")).toBe(expected));
  it("a place that is only near, and none", () => {
    expect(title("2024-05-03T06:00", "2024-05-03T07:00", "near Tivoli")).toBe("Morning near Tivoli");
    expect(title("2024-05-03T06:00", "2024-05-05T07:00")).toBe("Three days from 3 May 2024");
  });
  it("a beach day only where folders or tags say so", () => {
    const day = ["2024-08-03T10:00", "2024-08-03T17:00"] as const;
    expect(title(...day, "Nice", "photos/beach 2024/1.jpg")).toBe("Beach day in Nice");
    expect(title(...day, undefined, "photos/1.jpg", ["beach"])).toBe("Beach day");
    expect(title(...day, "Long Beach", "photos/beachcomber.jpg")).toBe("Day in Long Beach");
  });
});

describe("times", () => {
  const now = Date.parse("2026-11-27T00:00:00Z");
  const time = (taken: string | undefined, name = "a.jpg") => {
    const at = timeOf(taken, name, now);
    return at === undefined ? undefined : new Date(at).toISOString().slice(0, 19);
  };
  it("are those of EXIF, else of the name", () => {
    expect(time("2024-05-01T13:45:10", "IMG_20200101_000000.jpg")).toBe("2024-05-01T13:45:10");
    expect(time(undefined, "PXL_20241123_234831.jpg")).toBe("2024-11-23T23:48:31");
    expect(time(undefined, "whiteboard 2024-09-03.jpg")).toBe("2024-09-03T12:00:00");
    expect(time(undefined, "IMG_0417.jpg")).toBe(undefined);
    expect(time(undefined, "20249999.jpg")).toBe(undefined);
  });
  it("a clock that is ahead, or that was reset, is ignored", () => {
    expect(time("2031-05-01T13:45:10")).toBe(undefined);
    expect(time("2000-01-01T00:03:10")).toBe(undefined);
    expect(time("1980-01-01T00:00:00", "2024-09-03.jpg")).toBe("2024-09-03T12:00:00");
    expect(time("2000-01-01T13:45:10")).toBe("2000-01-01T13:45:10");
  });
});

describe("what is stored of a photo", () => {
  const day = "2024-05-01T00:00:00.000Z";
  const entry = (photos: Record<string, unknown>, size = 10): Entry => ({
    id: "1",
    path: "a.jpg",
    name: "a.jpg",
    kind: "file",
    media: "image",
    extension: "jpg",
    mime: "image/jpeg",
    size,
    created: day,
    modified: day,
    content_id: null,
    tags: [],
    fields: { photos },
    sidecars: [],
    location: ".",
  });
  const of = stateOf(entry({}));
  it("holds as long as the file does not change", () => {
    const facts = { of, taken: "2024-05-01T13:45:10", position: rome };
    expect(photoOf(entry({ facts }), Date.now())).toMatchObject({
      at: rome,
      needsFacts: false,
      needsLook: true,
    });
    expect(photoOf(entry({ facts }, 11), Date.now())).toMatchObject({ needsFacts: true });
  });
  it("is ignored if it makes no sense", () => {
    for (const facts of [
      { of, taken: 5, position: ["a", 1] },
      { of, taken: "soon", position: [100, 0] },
      null,
      "x",
    ]) {
      const read = photoOf(entry({ facts, look: { of, look: { bits: 5, colour: "red" } } }), Date.now());
      expect(read).not.toHaveProperty("at");
      expect(read).not.toHaveProperty("time");
      expect(read).not.toHaveProperty("look");
    }
  });
});

describe("the memory of a weekend", () => {
  const sunday = Date.parse("2026-05-03T09:00:00Z");
  const on = (day: string, count: number, at?: Position) =>
    Array.from({ length: count }, (_, n) => photo(`${day}T1${n}:00:00`, at));
  it("is of the year with the most photos of these dates", () => {
    const found = weekendMemory(
      moments([
        ...on("2023-05-02", 4, rome),
        ...on("2023-05-03", 3, rome),
        ...on("2020-05-03", 5),
        ...on("2023-06-03", 9),
      ]),
      sunday,
    );
    expect(found).toMatchObject({ title: "On this weekend 3 years ago: 7 photos in Rome", yearsAgo: 3 });
  });
  it("a year ago, in no known place; this year's photos and a single photo do not count", () => {
    expect(weekendMemory(moments(on("2025-05-03", 3)), sunday)?.title).toBe(
      "On this weekend a year ago: 3 photos",
    );
    expect(weekendMemory(moments([...on("2026-05-02", 9), ...on("2024-05-03", 1)]), sunday)).toBe(null);
  });
  it("is of the Sunday where the person is, and of the last one if the machine slept", () => {
    const day = (now: string) => new Date(sundayOf(Date.parse(now))).toISOString().slice(0, 10);
    expect(
      ["2026-05-02T20:00Z", "2026-05-03T09:00Z", "2026-05-03T20:00Z", "2026-05-05T09:00Z"].map(day),
    ).toEqual(Array.from({ length: 4 }, () => "2026-05-03"));
  });
  it("29 February has its years", () => {
    const leap = Date.parse("2032-02-29T09:00:00Z");
    expect(weekendMemory(moments(on("2031-02-28", 3)), leap)?.yearsAgo).toBe(1);
  });
});
