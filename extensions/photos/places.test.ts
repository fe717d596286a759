import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Clusters } from "./clusters.ts";
import { Gazetteer } from "./gazetteer.ts";
import { distanceKm, middleOf, type Position } from "./geo.ts";
import { nameOf, photosAround, placesOf, spotsOf } from "./places.ts";
import type { Photo } from "./photo.ts";

const { towns } = JSON.parse(readFileSync(new URL("cities.json", import.meta.url), "utf8")) as {
  towns: string;
};
const gazetteer = new Gazetteer(towns);
const photo = (id: string, at?: Position): Photo => ({
  id,
  path: `photos/${id}.jpg`,
  tags: [],
  ...(at === undefined ? {} : { at }),
  needsFacts: false,
  needsLook: false,
});

describe("distances", () => {
  it("are those of a globe, across the date line and at the poles too", () => {
    expect(distanceKm([41.9, 12.5], [48.86, 2.35])).toBeCloseTo(1106, -1);
    expect(distanceKm([0, 179.99], [0, -179.99])).toBeCloseTo(2.22, 1);
    expect(distanceKm([90, 0], [90, 137])).toBeCloseTo(0, 5);
    expect(distanceKm([0, 0], [0, 180])).toBeCloseTo(Math.PI * 6371, 0);
  });
  it("the middle of positions on both sides of the date line is between them", () => {
    expect(
      middleOf([
        [0, 179],
        [0, -179],
      ])[1],
    ).toBeCloseTo(180, 3);
  });
});

/** DBSCAN as it is written in books: everything is compared with everything. Returns groups of dense positions. */
function plainClusters(positions: readonly Position[], km: number, least: number): number[][] {
  const near = positions.map((one) =>
    positions.flatMap((other, index) => (distanceKm(one, other) <= km ? [index] : [])),
  );
  const dense = near.flatMap((found, index) => (found.length >= least ? [index] : []));
  const seen = new Set<number>();
  const groups: number[][] = [];
  for (const first of dense) {
    if (seen.has(first)) continue;
    const group: number[] = [];
    const waiting = [first];
    seen.add(first);
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      group.push(at);
      for (const other of near[at] ?? [])
        if (!seen.has(other) && dense.includes(other)) {
          seen.add(other);
          waiting.push(other);
        }
    }
    groups.push(group.toSorted((a, b) => a - b));
  }
  return groups.toSorted((a, b) => (a[0] ?? 0) - (b[0] ?? 0));
}

describe("clusters made one position at a time", () => {
  it.each([
    ["in a town", 41.9, 12.5],
    ["at the date line", -17, 180],
    ["near a pole", 89.9, 0],
  ])("are those of DBSCAN over all of them, in any order: %s", (_, latitude, longitude) => {
    const positions = fc.array(
      fc
        .tuple(fc.integer({ min: -30, max: 30 }), fc.integer({ min: -30, max: 30 }))
        .map(([north, east]): Position => {
          const lon = longitude + (east * 0.004) / Math.cos((Math.min(latitude, 80) * Math.PI) / 180);
          return [Math.min(90, latitude + north * 0.004), ((((lon + 180) % 360) + 360) % 360) - 180];
        }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(positions, fc.integer({ min: 2, max: 5 }), (all, least) => {
        const clusters = new Clusters(1, least);
        for (const position of all) clusters.add(position);
        const isDense = (index: number): boolean =>
          all.filter((other) => distanceKm(other, all[index] ?? other) <= 1).length >= least;
        const found = clusters.groups().map((group) => group.filter(isDense));
        expect(found.toSorted((a, b) => (a[0] ?? 0) - (b[0] ?? 0))).toEqual(plainClusters(all, 1, least));
        // A position that is not dense belongs to a neighbour's cluster or to no cluster.
        const members = clusters.groups().flat();
        expect(new Set(members).size).toBe(members.length);
        for (const index of all.keys()) {
          const hasDense = all.some(
            (other, at) => isDense(at) && distanceKm(other, all[index] ?? other) <= 1,
          );
          expect(members.includes(index)).toBe(hasDense);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe("names", () => {
  it.each([
    ["the middle of Rome", [41.8902, 12.4922], "Rome"],
    ["the Vatican, which is nearer to a smaller town", [41.9022, 12.4539], "Rome"],
    ["Lisbon", [38.7139, -9.1394], "Lisbon"],
    ["Tokyo", [35.6586, 139.7454], "Tokyo"],
    ["Reykjavík", [64.1466, -21.9426], "Reykjavík"],
    ["a field east of Rome", [41.93, 13.05], "near Tivoli"],
    ["the sea", [0, -30], "0.00° N 30.00° W"],
  ] as const)("%s", (_, position, name) => expect(nameOf(position, gazetteer).name).toBe(name));
  it("no list, no name", () => {
    expect(nameOf([41.89, 12.49], new Gazetteer("")).name).toBe("41.89° N 12.49° E");
  });
});

describe("places", () => {
  const settings = { km: 2, least: 3 };
  it("are where several photos are, the most first; the quarters of a town are one; a single photo is none", () => {
    const photos = [
      ...["a", "b", "c"].map((id) => photo(id, [38.7139, -9.1394])),
      ...["d", "e", "f", "g"].map((id) => photo(id, [41.8902, 12.4922])),
      ...["h", "i", "j"].map((id) => photo(id, [41.9322, 12.5522])),
      photo("alone", [48.2, 16.37]),
      photo("nowhere"),
    ];
    const { all, of } = placesOf(photos, gazetteer, settings);
    expect(all.map(({ name, country, photos: { length } }) => [name, country, length])).toEqual([
      ["Rome", "IT", 7],
      ["Lisbon", "PT", 3],
    ]);
    expect(of.get("h")).toBe(all[0]);
    expect(of.has("alone")).toBe(false);
    expect(placesOf(photos.toReversed(), gazetteer, settings).all.map(({ name }) => name)).toEqual([
      "Rome",
      "Lisbon",
    ]);
  });
  it("a thousand photos of one spot are one place at once", () => {
    const photos = Array.from({ length: 1000 }, (_, n) => photo(`p${n}`, [41.89 + (n % 7) / 1e5, 12.49]));
    expect(placesOf(photos, gazetteer, settings).all).toMatchObject([{ name: "Rome" }]);
  });
  it("of 5,000 photos of one place few positions are compared, and of 10,000 no more", () => {
    const comparisonsOf = (count: number): number => {
      const photos = Array.from({ length: count }, (_, n) => {
        const [x, y] = [Math.sin(n * 12.9898) * 0.02, Math.sin(n * 78.233) * 0.02];
        return photo(`p${n}`, [41.89 + x, 12.49 + y]);
      });
      expect(placesOf(photos, gazetteer, settings).all).toMatchObject([{ photos: { length: count } }]);
      const clusters = new Clusters(settings.km, settings.least);
      for (const { at, photos: these } of spotsOf(photos, settings.km)) clusters.add(at, these.length);
      return clusters.comparisons;
    };
    const [once, twice] = [comparisonsOf(5000), comparisonsOf(10_000)];
    expect(once).toBeLessThan(5000 * 100);
    expect(twice).toBeLessThan(once * 1.2);
  });
  it("around a position the nearest photo comes first", () => {
    const photos = [
      photo("far", [41.95, 12.49]),
      photo("near", [41.9, 12.49]),
      photo("away", [45, 12]),
      photo("none"),
    ];
    expect(photosAround(photos, [41.9, 12.5], 10).map((one) => one.photo.id)).toEqual(["near", "far"]);
  });
});
