import { afterAll, beforeAll, describe } from "vitest";
import { Arena } from "./arena.ts";
import { contained, extensionOf, type Hostile } from "./hostile.ts";
import * as modules from "./programs/modules.ts";

const table: [string, string, Uint8Array, string, Record<string, number>?][] = [
  [
    "env",
    "an import from nowhere",
    modules.unknownModule,
    'agent.wasm: The module imports "open_the_door" from "env"; an agent may import only from wasi_snapshot_preview1.',
  ],
  [
    "teleport",
    "an import that WASI does not have",
    modules.unknownFunction,
    'agent.wasm: The module imports "fd_teleport", which is not a function of wasi_snapshot_preview1.',
  ],
  [
    "memory",
    "an imported memory",
    modules.importedMemory,
    'agent.wasm: The module imports a memory ("env" "memory"); an agent may import only functions of wasi_snapshot_preview1.',
  ],
  [
    "huge",
    "four gigabytes of memory at the start",
    modules.hugeMemory,
    "agent.wasm: The module starts with 4096 MB of memory; max_memory_mb is 256.",
  ],
  [
    "tables",
    "many tables",
    modules.manyTables,
    "agent.wasm: The module has 50 tables; at most 4 are allowed (maxTables).",
  ],
  [
    "table",
    "a table of four billion elements",
    modules.hugeTable,
    "agent.wasm: The module is not valid WebAssembly: initial table size (4294967295 elements) is larger than implementation limit (10000000 elements) @+#.",
  ],
  [
    "nostart",
    "no _start",
    modules.noStart,
    'agent.wasm: The module exports no function "_start"; an agent is a WASI command, not a library (reactor).',
  ],
  [
    "functions",
    "a million functions",
    modules.millionFunctions(),
    "agent.wasm: The module has 1000000 functions; at most 100000 are allowed (maxFunctions).",
  ],
  [
    "locals",
    "a million locals",
    modules.millionLocals(),
    "agent.wasm: The module is not valid WebAssembly: Compiling function ## failed: local count too large @+#.",
  ],
  [
    "types",
    "two hundred thousand types",
    modules.millionTypes(),
    "agent.wasm: The module has 200000 types; at most 10000 are allowed (maxTypes).",
  ],
  [
    "data",
    "thirty megabytes of data for one page",
    modules.hugeData(),
    "agent.wasm: The module puts 30000000 bytes of data at 0 into a memory that starts with 65536 bytes.",
  ],
  [
    "segments",
    "a million data segments",
    modules.millionSegments(),
    "agent.wasm: The module is not valid WebAssembly: data segments count of 1000000 exceeds internal limit of 100000 @+#.",
  ],
  [
    "blocks",
    "blocks nested two hundred thousand deep",
    modules.deepBlocks(),
    "The program ended by itself with exit code 0.",
    // Its start comes close to the usual limit.
    { max_cpu_ms_per_event: 3000 },
  ],
  [
    "lies",
    "a section that is longer than the file",
    modules.lies(),
    'agent.wasm: The module is not valid WebAssembly: section (code 1, "Type") extends past end of the module (length 4294967295, remaining bytes 4) @+#.',
  ],
  [
    "nomodule",
    "bytes that are none",
    new Uint8Array(100_000).fill(7),
    "agent.wasm: The module is not valid WebAssembly: expected magic word 00 61 73 6d, found 07 07 07 07 @+0.",
  ],
];
const cases: Hostile[] = table.map(([name, does, program, error, resources = {}]) => ({
  name,
  does,
  program,
  resources,
  state: "Error",
  error,
}));

let arena: Arena;
beforeAll(async () => {
  arena = await Arena.open(cases.map(extensionOf), { limits: { active_agents: 32 } });
});
afterAll(() => arena[Symbol.asyncDispose]());

describe("a module with", () => contained(() => arena, cases));
