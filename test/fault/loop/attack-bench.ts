import type { BenchSpec } from "../../support/bench.ts";
import { ATTACKER, loopAttacks, members } from "./attacks.ts";

export const NEIGHBOUR = "test.neighbour";

const program = `
import { defineAgent } from "@lares/sdk";
const guest = globalThis[Symbol.for("lares.guest")];
const call = (method, params) => guest.call(method, params);
const notify = (method, params) => guest.notify(method, params);
/** The outcomes of many concurrent calls. */
const all = async (count, make) => {
  const ends = await Promise.allSettled(Array.from({ length: count }, (_, at) => make(at)));
  for (const end of ends) {
    const what = end.status === "fulfilled" ? "answered" : String(end.reason?.message).slice(0, 160);
    told[what] = (told[what] ?? 0) + 1;
  }
};
let told = {};
const attacks = {
${loopAttacks.map(({ name, body }) => `async ${name}() {${body}\n},`).join("\n")}
};
export default defineAgent({
  hooks: { async heard() {} },
  tools: {
    async attack({ name }) { told = {}; notify("trace", { level: "info", message: "attacking: " + name }); await attacks[name](); return told; },
    async fanned() { return null; },
    async unique() { return null; },
    async large() { return Array.from({ length: 300_000 }, (_, at) => [at]); },
  },
});
`;

/** Definitions that each refer twice to the next one. */
function fanOut(levels: number): Record<string, unknown> {
  const definitions: Record<string, unknown> = { [`d${levels}`]: { type: "object" } };
  for (let level = 0; level < levels; level++) {
    const next = { $ref: `#/definitions/d${level + 1}` };
    definitions[`d${level}`] = { allOf: [next, next] };
  }
  return { type: "object", allOf: [{ $ref: "#/definitions/d0" }], definitions };
}

const tool = (name: string, parameters: object): object => ({
  name,
  description: name,
  handler: name,
  parameters,
});

/** Scripts in which each word may be a path. */
function largePackage(): string {
  const scripts = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, at) => [`s${at}`, `node x/${at}*/y-${at}.js`]),
  );
  return JSON.stringify({ scripts });
}

/** Enough rules that each moved folder is compared with hundreds. */
function hundredsOfRules(): object[] {
  return Array.from({ length: 500 }, (_, at) => ({ decide: "deny", path: `big/**/*${at}*.{key,pem}` }));
}

/** A workspace with an agent that makes the attacks, and a well-behaved one with a tool. */
export function loopAttackBench(): BenchSpec {
  return {
    files: {
      "one.txt": "a",
      "many.txt": "a".repeat(2_000_000),
      "marked.txt": `${"a".repeat(2_000_000)}c`,
      "lines.txt": "a\nb\n".repeat(60_000),
      ...Object.fromEntries(
        Array.from({ length: 8 }, (_, at) => [`texts/${at}.txt`, "a\nb\n".repeat(60_000)]),
      ),
      "pack/package.json": largePackage(),
      ...Object.fromEntries(
        Array.from({ length: 8 }, (_, at) => [`packs/${at}/package.json`, largePackage()]),
      ),
      ...Object.fromEntries(
        Array.from({ length: 2000 }, (_, at) => [`pack/big/${at % 40}/file-${at}.txt`, "a"]),
      ),
      ...Object.fromEntries(
        Array.from({ length: members }, (_, at) => [`big/${at % 40}/file-${at}.txt`, "a"]),
      ),
    },
    lares: { approvals: { rules: hundredsOfRules() } },
    extensions: [
      {
        id: ATTACKER,
        program,
        manifest: {
          permissions: {
            read_entries: true,
            write_sidecars: { kinds: ["faces"] },
            write_tags: true,
            write_custom_fields: { namespace: "probe" },
            propose_actions: ["file.write", "file.edit", "file.move", "file.delete", "folder.create"],
            emit_events: ["Ping"],
            dispatch_jobs: true,
            shared_data: { read: ["k0"], write: Array.from({ length: 64 }, (_, at) => `k${at}`) },
          },
          resources: { max_cpu_ms_per_event: 10_000, max_memory_mb: 256 },
          hooks: Array.from({ length: 20 }, (_, at) => ({
            on: `${ATTACKER}/Ping`,
            handler: "heard",
            filter: `event.text.matches('(a*)*b${at}')`,
          })),
          tools: [
            tool("attack", { type: "object" }),
            tool("fanned", fanOut(11)),
            tool("large", { type: "object" }),
            tool("unique", { type: "object", properties: { items: { type: "array", uniqueItems: true } } }),
          ],
        },
      },
      {
        id: NEIGHBOUR,
        program: `
import { defineAgent } from "@lares/sdk";
export default defineAgent({ tools: { async echo({ text }) { return text; } } });
`,
        manifest: {
          permissions: { read_entries: true },
          tools: [
            tool("echo", { type: "object", properties: { text: { type: "string" } }, required: ["text"] }),
          ],
        },
      },
    ],
  };
}
