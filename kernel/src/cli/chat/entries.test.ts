import { expect, test } from "vitest";
import { entryNamed } from "./entries.ts";

const idOf = (at: number): string =>
  `0199${String(at).padStart(4, "0")}-0000-7000-8000-${String(at).padStart(12, "0")}`;

function kernelWith(count: number) {
  const pages: number[] = [];
  const items = Array.from({ length: count }, (_none, at) => ({
    id: idOf(at + 1),
    seq: at + 1,
    kind: "request",
  }));
  const conversationEntries = ({ after = 0, limit = 100 }: { after?: number; limit?: number }) => {
    pages.push(after);
    return Promise.resolve({ items: items.slice(after, after + limit), total: count } as never);
  };
  return { conversationEntries, pages };
}

test("an entry is named by the end of its id, on whatever page it is", async () => {
  const kernel = kernelWith(2500);
  expect(await entryNamed(kernel, "c", "0002345")).toBe(idOf(2345));
  expect(kernel.pages).toEqual([0, 1000, 2000]);
});

test("what fits none or several is refused, and a whole id is not looked for", async () => {
  await expect(entryNamed(kernelWith(20), "c", "1")).rejects.toThrow(
    /"1" can mean 2 entries: 00000001 "request"/,
  );
  await expect(entryNamed(kernelWith(20), "c", "99")).rejects.toThrow(
    "No entry of this conversation has an id",
  );
  const kernel = kernelWith(0);
  expect(await entryNamed(kernel, "c", idOf(7))).toBe(idOf(7));
  expect(kernel.pages).toEqual([]);
});
