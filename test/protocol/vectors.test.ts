/** The micro HNSW in real agents: one in TypeScript that fills its memory, and one in another language. */
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import { agent, Bench, inState, tool } from "../support/bench.ts";
import type { Client } from "../support/client.ts";
import { handMade } from "../support/wasm.ts";

const FILLING = "test.filling";
const FOREIGN = "test.foreign";
const resolve = createRequire(import.meta.url).resolve;

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

/** Merged from a guest made by hand, with a memory of its own, and the module of the SDK's package. */
async function foreign(): Promise<Uint8Array> {
  const set = 1_200_000;
  const vector = 1_300_000;
  const digit = 1_310_000;
  const guest = handMade(
    ({ say, reply, when, id }) => [
      when("initialize", reply('{"handlers":[],"tools":["nearest"],"jobs":[]}')),
      when(
        "tool",
        `(i32.store8 (i32.const ${digit}) (i32.add (i32.const 48) (call $nearest)))
         ${say('{"jsonrpc":"2.0","id":')} ${id} ${say(',"result":{"status":"success","value":')}
         (call $emit (i32.const ${digit}) (i32.const 1)) ${say("}}\n")}`,
      ),
      when("shutdown", reply("{}") + "(call $exit (i32.const 0))"),
    ],
    `(func $point (param $x f32) (param $y f32) (result i32)
       (f32.store (i32.const ${vector}) (local.get $x))
       (f32.store offset=4 (i32.const ${vector}) (local.get $y))
       (i32.const ${vector}))
     (func $nearest (result i32)
       (drop (call $create (i32.const ${set}) (call $bytes (i32.const 2) (i32.const 8) (i32.const 4))
         (i32.const 2) (i32.const 8) (i32.const 4) (i32.const 10)))
       (drop (call $add (i32.const ${set}) (i32.const 5) (call $point (f32.const 1) (f32.const 0))))
       (drop (call $add (i32.const ${set}) (i32.const 6) (call $point (f32.const 1) (f32.const 1))))
       (drop (call $add (i32.const ${set}) (i32.const 7) (call $point (f32.const 0) (f32.const 1))))
       (if (i32.ne (i32.const 1) (call $search (i32.const ${set}) (call $point (f32.const 3) (f32.const 2)) (i32.const 1) (i32.const 8)))
         (then (unreachable)))
       (i32.load (call $results (i32.const ${set}))))`,
    `(import "hnsw" "hnsw_bytes" (func $bytes (param i32 i32 i32) (result i32)))
     (import "hnsw" "hnsw_create" (func $create (param i32 i32 i32 i32 i32 i32) (result i32)))
     (import "hnsw" "hnsw_add" (func $add (param i32 i32 i32) (result i32)))
     (import "hnsw" "hnsw_search" (func $search (param i32 i32 i32 i32) (result i32)))
     (import "hnsw" "hnsw_results" (func $results (param i32) (result i32)))`,
  );
  const folder = await mkdtemp(join(tmpdir(), "lares-merge-"));
  try {
    const [source, out] = [join(folder, "guest.wasm"), join(folder, "agent.wasm")];
    await writeFile(source, guest);
    const merge = join(dirname(resolve("binaryen")), "bin", "wasm-merge");
    const hnsw = resolve("@lares/sdk/hnsw-linkable.wasm");
    execFileSync(process.execPath, [
      merge,
      source,
      "env",
      hnsw,
      "hnsw",
      "-o",
      out,
      "--enable-bulk-memory",
      "--enable-nontrapping-float-to-int",
    ]);
    return await readFile(out);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const named = (name: string) => ({ name, description: name, handler: name });

let bench: Bench;
let client: Client;
beforeAll(async () => {
  bench = await Bench.create({
    extensions: [
      {
        id: FILLING,
        program: filling,
        manifest: {
          resources: { max_memory_mb: 32, max_cpu_ms_per_event: 20_000 },
          tools: [named("fill"), named("search")],
        },
      },
      {
        id: FOREIGN,
        files: { "agent.wasm": await foreign() },
        manifest: { main: "agent.wasm", tools: [named("nearest")] },
      },
    ],
  });
  client = await bench.open();
});
afterAll(() => bench[Symbol.asyncDispose]());

test("an agent that fills its memory with vectors is told so, keeps what it has, and goes on", async () => {
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

test("a guest in another language, merged with the module, finds what is nearest", async () => {
  await inState(client, FOREIGN, "Active", "Unloaded");
  expect(await tool(client, FOREIGN, "nearest")).toBe(6);
});
