// Brings the index of vectors, which is a part of the guest.
import "@lares/sdk/testing";
import { describe, expect, it } from "vitest";
import { clusterBounds, clustering, clustersOf, nobody, type ComparedFace } from "./face-clusters.ts";

/** A generator of numbers from 0 to 1 that are the same each time. */
function numbersFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Faces of some people: each person has a direction, and each face of the person is near it. */
function facesOf(
  people: number,
  each: number,
  { dimensions = 32, noise = 0.5, seed = 1 } = {},
): ComparedFace[] {
  const next = numbersFrom(seed);
  const directions = Array.from({ length: people }, () =>
    Array.from({ length: dimensions }, () => next() - 0.5),
  );
  return Array.from({ length: people * each }, (_, at) => ({
    key: `photo ${String(at).padStart(6, "0")}`,
    vector: (directions[at % people] ?? []).map((value) => value + noise * (next() - 0.5)),
  }));
}

const options = { samePerson: 0.6, names: new Map<string, string>() };
const distinct = (people: readonly string[]): number => new Set(people).size;

describe("faces", () => {
  it("near each other are of one person, and others of others", () => {
    const found = clustersOf(facesOf(5, 20), options);
    expect(distinct(found)).toBe(5);
    for (const [at, person] of found.entries()) expect(person).toBe(found[at % 5]);
  });

  it("are counted to the same people whatever their order", () => {
    const faces = facesOf(7, 15);
    const found = clustersOf(faces, options);
    expect(clustersOf(faces.toReversed(), options).toReversed()).toEqual(found);
    expect(clustersOf(faces, options)).toEqual(found);
  });

  it("that come later leave people as they are, with their ids and so their names", () => {
    const all = facesOf(6, 30);
    const first = clustersOf(all.slice(0, 60), options);
    const known = all.map((face, at) => ({ ...face, ...(at < 60 ? { person: first[at] ?? "" } : {}) }));
    const names = new Map([[first[0] ?? "", "ada"]]);
    const found = clustersOf(known, { ...options, names });
    expect(found.slice(0, 60)).toEqual(first);
    expect(distinct(found)).toBe(6);
    expect(found[6]).toBe(first[0]);
  });

  it("of two people with different names stay apart, however near they are", () => {
    const one = { key: "1", vector: [1, 0, 0], person: "a" };
    const other = { key: "2", vector: [1, 0.01, 0], person: "b" };
    const named = (a: string, b: string) =>
      new Map([...(a ? [["a", a] as const] : []), ...(b ? [["b", b] as const] : [])]);
    expect(distinct(clustersOf([one, other], { ...options, names: named("ada", "grace") }))).toBe(2);
    expect(clustersOf([one, other], { ...options, names: named("", "grace") })).toEqual(["b", "b"]);
    expect(distinct(clustersOf([one, other], { ...options, names: named("ada", "ada") }))).toBe(1);
  });

  it("without a vector, of another length, or without a direction are nobody's, and harm no others", () => {
    const [face] = facesOf(1, 1, { dimensions: 3 });
    const bad: ComparedFace[] = [
      { key: "y" },
      { key: "z1", vector: [1, 2] },
      { key: "z2", vector: [0, 0, 0] },
      { key: "z3", vector: [Number.NaN, 1, 1] },
      { key: "z4", vector: [Number.POSITIVE_INFINITY, 1, 1] },
    ];
    const found = clustersOf([...(face === undefined ? [] : [face]), ...bad], options);
    expect(found[0]).not.toBe(nobody);
    expect(found.slice(1)).toEqual(bad.map(() => nobody));
    expect(clustersOf([], options)).toEqual([]);
    expect(clustersOf(bad.slice(0, 1), options)).toEqual([nobody]);
  });

  it("opposite to each other add up to nothing and end nobody's work", () => {
    const faces = [
      { key: "1", vector: [1, 0], person: "a" },
      { key: "2", vector: [-1, 0], person: "a" },
      { key: "3", vector: [0, 1] },
    ];
    expect(clustersOf(faces, options)).toHaveLength(3);
  });

  it("are 20,000 at a time, in steps, with few people for so many", () => {
    const faces = facesOf(400, 50, { dimensions: 64 });
    const run = clustering(faces, options);
    let steps = 0;
    let step = run.next();
    for (; step.done !== true; step = run.next()) steps += 1;
    expect(steps).toBeGreaterThan(100);
    const people = step.value;
    const right = people.filter((person, at) => person === people[at % 400]).length;
    expect(right / faces.length).toBeGreaterThan(0.97);
    expect(distinct(people)).toBeLessThan(450);
  }, 60_000);

  it("of more people than there is room for are nobody's", () => {
    const next = numbersFrom(3);
    const faces = Array.from({ length: clusterBounds.people + 50 }, (_, at) => ({
      key: String(at).padStart(6, "0"),
      vector: Array.from({ length: 64 }, () => next() - 0.5),
    }));
    const people = clustersOf(faces, { ...options, samePerson: 0.98 });
    expect(distinct(people)).toBe(clusterBounds.people + 1);
    expect(people.filter((person) => person === nobody)).toHaveLength(50);
  }, 60_000);
});
