/** The micro HNSW module in an agent in another language, merged with Binaryen as an author would. */
import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";
import { compilers, installNested } from "../../kernel/build/nested-package.ts";
import { Bench, inState, tool } from "../support/bench.ts";
import { TemporaryFolder } from "../support/temporary-folder.ts";
import { handMade } from "../support/wasm.ts";

const FOREIGN = "test.foreign";
const resolve = createRequire(import.meta.url).resolve;

/** Merged from a handmade guest with a memory of its own, and the module of the SDK's package. */
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
  await using folder = await TemporaryFolder.create("lares-merge-");
  const [source, out] = [join(folder.path, "guest.wasm"), join(folder.path, "agent.wasm")];
  await writeFile(source, guest);
  const merge = join(dirname(installNested(compilers)("binaryen")), "bin", "wasm-merge");
  const hnsw = resolve("@lares/sdk/hnsw-linkable.wasm");
  const features = ["--enable-bulk-memory", "--enable-nontrapping-float-to-int"];
  execFileSync(process.execPath, [merge, source, "env", hnsw, "hnsw", "-o", out, ...features]);
  return await readFile(out);
}

test("a guest in another language, merged with the module, finds the nearest vectors", async () => {
  await using bench = await Bench.create({
    extensions: [
      {
        id: FOREIGN,
        files: { "agent.wasm": await foreign() },
        manifest: {
          main: "agent.wasm",
          tools: [{ name: "nearest", description: "nearest", handler: "nearest" }],
        },
      },
    ],
  });
  const client = await bench.open();
  await inState(client, FOREIGN, "Active", "Unloaded");
  expect(await tool(client, FOREIGN, "nearest")).toBe(6);
});
