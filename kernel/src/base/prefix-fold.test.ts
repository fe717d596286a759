import fc from "fast-check";
import { expect, test } from "vitest";
import { PrefixFold } from "./prefix-fold.ts";

interface Item {
  readonly name: number;
}

const folded = (taken: Item[] = []) =>
  new PrefixFold<Item, number[]>({
    begin: () => [],
    take: (state, item) => {
      taken.push(item);
      state.push(item.name);
      return state;
    },
    copy: (state) => [...state],
  });

test("lists that begin alike come to the same as each of them alone", () => {
  const edits = fc.array(fc.record({ kept: fc.nat(12), more: fc.nat(4) }), { maxLength: 12 });
  fc.assert(
    fc.property(edits, (all) => {
      const fold = folded();
      let list: readonly Item[] = [{ name: -1 }];
      let name = 0;
      for (const { kept, more } of all) {
        list = [...list.slice(0, 1 + kept), ...Array.from({ length: more }, () => ({ name: name++ }))];
        expect(fold.over(list)).toEqual(list.map((item) => item.name));
      }
    }),
  );
  expect(folded().over([])).toEqual([]);
});

test("what is not held is taken again, and a list during which something was thrown is forgotten", () => {
  const taken: number[] = [];
  let isBroken = false;
  const fold = new PrefixFold<Item, number[]>({
    begin: () => [],
    take: (state, { name }) => {
      if (name === 2 && isBroken) throw new Error("It cannot be read.");
      taken.push(name);
      state.push(name);
      return state;
    },
    copy: (state) => [...state],
    holds: ({ name }) => name < 10,
  });
  const list = [0, 1, 2, 10, 3].map((name) => ({ name }));
  const names = list.map(({ name }) => name);
  for (let round = 0; round < 4; round++) {
    expect(fold.over(list)).toEqual(names);
    isBroken = round === 1;
    if (isBroken) expect(() => fold.over([...list.slice(0, 2), { name: 2 }])).toThrow("cannot be read");
    isBroken = false;
  }
  expect(taken.filter((name) => name === 10).length).toBe(4);
});

test("an item that stays is taken twice at most, however many lists it begins", () => {
  const taken: Item[] = [];
  const fold = folded(taken);
  const list: Item[] = [];
  for (let name = 0; name < 100; name++) {
    list.push({ name });
    // The last one is another object in each list, as a message with a cache point is.
    fold.over([...list, { name: -1 }]);
  }
  for (const item of list) expect(taken.filter((one) => one === item).length).toBeLessThanOrEqual(2);
});
