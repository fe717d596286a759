import { expect, it } from "vitest";
import { runTool, startTool } from "./testing/run-guest.ts";

it("sets without references release their memory", async () => {
  await using guest = await startTool(`
    const { VectorSet } = await import("@lares/sdk");
    let size = 0;
    // Together more than 4 GiB, which no guest has.
    for (let round = 0; round < 400; round++) {
      const set = new VectorSet({ dimensions: 4096, m: 2, efConstruction: 1 });
      for (let label = 0; label < 129; label++) set.add(label, new Float32Array(4096).fill(1, label));
      size += set.size + VectorSet.fromBytes(set.toBytes()).size;
    }
    return size;
  `);
  await guest.initialize();
  expect(await runTool(guest)).toBe(400 * 258);
});
