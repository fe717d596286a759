import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maxGraphItems, type Item } from "./messages.ts";
import { radialGraph } from "./radial.ts";

const item = (id: string, ...to: string[]): Item => ({
  id,
  variant: "Fact",
  data: {},
  importance: 0.5,
  relations: to.map((to) => ({ to, relation: "RelatedTo" })),
  embedded: true,
});

describe("a graph of relations", () => {
  it("has the related items, in either direction, around the centre, and theirs around them", () => {
    const { nodes, edges } = radialGraph(item("a", "b"), [item("b", "c"), item("d", "a"), item("e", "c")]);
    expect(Object.fromEntries(nodes.map(({ id, ring }) => [id, ring]))).toEqual({ a: 0, b: 1, d: 1, c: 2 });
    expect(nodes.find(({ id }) => id === "c")?.item).toBeUndefined();
    expect(edges.map(({ from, to }) => `${from.id}${to.id}`)).toEqual(["ab", "da", "bc"]);
  });

  it("has nothing twice and stays within its picture and its limit, whatever the relations", () => {
    const id = fc.constantFrom(...Array.from({ length: 100 }, (_, index) => `i${index}`));
    fc.assert(
      fc.property(fc.array(fc.tuple(id, fc.array(id, { maxLength: 80 })), { maxLength: 60 }), (pairs) => {
        const { nodes } = radialGraph(
          item("i0", "i1", "i0"),
          pairs.map(([from, to]) => item(from, ...to)),
        );
        expect(nodes.length).toBeLessThanOrEqual(maxGraphItems);
        expect(new Set(nodes.map(({ id }) => id)).size).toBe(nodes.length);
        expect(nodes.every(({ x, y }) => Math.hypot(x, y) <= 1)).toBe(true);
      }),
    );
  });
});
