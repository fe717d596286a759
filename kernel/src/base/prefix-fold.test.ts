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
