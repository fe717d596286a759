/** The micro HNSW module in a TypeScript agent that fills its memory. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { agent, Bench, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";

const FILLING = "test.filling";

const filling = `import { defineAgent, isLaresError, VectorSet } from "@lares/sdk";
let set: VectorSet | undefined;
export default defineAgent({ tools: {
  fill() {
    set = new VectorSet({ dimensions: 1024, m: 4, efConstruction: 4 });
    const vector = new Float32Array(1024);
    for (let label = 0; ; label++) {
      vector[label % 1024] = label;
      vector[0] = 1;
      try { set.add(label, vector); }
      catch (error) {
        if (!isLaresError(error)) throw error;
        return { code: error.code, limit: error.facts.limit, message: error.message, label, size: set.size };
      }
    }
  },
  search() { return [set?.size, set?.search(new Float32Array(1024).fill(1), 3).length]; },
} });
`;

let bench: Bench;
let client: Client;
beforeAll(async () => {
  const tools = ["fill", "search"].map((name) => ({ name, description: name, handler: name }));
  bench = await Bench.create({
    extensions: [
      {
        id: FILLING,
        program: filling,
        manifest: { resources: { max_memory_mb: 32, max_cpu_ms_per_event: 20_000 }, tools },
      },
    ],
  });
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

test("an agent that fills its memory with vectors gets an error, keeps its data, and continues", async () => {
  const value = await tool<{ size: number; label: number }>(client, FILLING, "fill");
  expect(value).toMatchObject({
    code: "LimitExceeded",
    limit: "memory",
    message: expect.stringMatching(/^There is no memory for \d+ bytes of vectors; .*max_memory_mb/) as string,
  });
  expect(value.size).toBe(value.label);
  expect(value.size).toBeGreaterThanOrEqual(1024);
  expect(await tool(client, FILLING, "search")).toEqual([value.size, 3]);
  const { state, metrics } = await agent(client, FILLING);
  expect(state).toBe("Active");
  expect(metrics.peak_memory_bytes).toBeLessThanOrEqual(32 * 1024 * 1024);
});
