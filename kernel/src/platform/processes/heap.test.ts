import { execFileSync } from "node:child_process";
import process from "node:process";
import { expect, it } from "vitest";
import { kernelFlags } from "./spawn-kernel.ts";

const program = `
  import { settleHeap } from ${JSON.stringify(new URL("./heap.ts", import.meta.url).href)};
  let kept = Array.from({ length: 200_000 }, (_, at) => ({ at, name: "name " + at }));
  const before = process.memoryUsage().heapUsed;
  kept = null;
  await settleHeap();
  console.log(JSON.stringify([before, process.memoryUsage().heapUsed]));
`;
const heaps = (flags: readonly string[]): number[] =>
  JSON.parse(
    execFileSync(process.execPath, [...flags, "--input-type=module", "--eval", program], {
      encoding: "utf8",
    }),
  ) as number[];

it("unused heap is released in a process that is started like a kernel", () => {
  const [before = 0, after = 0] = heaps(kernelFlags);
  expect(before - after).toBeGreaterThan(8_000_000);
});

it("nothing happens, and nothing fails, in another process", () => {
  expect(heaps([])).toHaveLength(2);
});
