import { fileURLToPath } from "node:url";
import { runInKernel } from "@lares/sdk/testing";
import { expect, it } from "vitest";

const extension = fileURLToPath(new URL(".", import.meta.url));
const library = fileURLToPath(new URL("../library/", import.meta.url));

interface Happened {
  total: number;
  photos: { taken: string; path: string }[];
}

it("remembers the example's photographs in a real kernel: when and where they were taken, and what they show", async () => {
  await using kernel = await runInKernel(extension, library);
  await kernel.idle();
  const all = await kernel.call<Happened>("happened", {});
  expect(all.total).toBeGreaterThan(3);
  const times = all.photos.map(({ taken }) => taken);
  expect(times).toEqual(times.toSorted().toReversed());

  const sea = await kernel.call<Happened>("happened", { since: "2024-06-01", mentions: "sea" });
  expect(sea.total).toBeGreaterThan(0);
  expect(sea.total).toBeLessThan(all.total);
  for (const { taken } of sea.photos) expect(taken >= "2024-06-01").toBe(true);

  const [first] = sea.photos;
  const like = await kernel.call<{ path: string; similarity: number }[]>("like", { about: "sea", limit: 5 });
  expect(like.map(({ path }) => path)).toContain(first?.path);
  expect(await kernel.call<unknown[]>("places", {})).not.toHaveLength(0);
});
