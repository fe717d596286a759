import { afterAll, beforeAll, describe, expect } from "vitest";
import { agent } from "../../support/bench.ts";
import { until } from "../../support/until.ts";
import { Arena } from "./arena.ts";
import { contained, cpuLimitMs, extensionOf, type Hostile, idOf, wallLimitMs } from "./hostile.ts";
import * as hand from "./programs/by-hand.ts";

const typed = (body: string): string => `
import { defineAgent } from "@lares/sdk";
const guest = globalThis[Symbol.for("lares.guest")];
export default defineAgent({ hooks: { async go(event, ctx) { ${body} } } });
`;
const last = (why: string): string => `Suspended after 3 failures in a row; the last: ${why}`;
const broke = (why: string): string => `It violated the ABI 9 times. The last violation: ${why}`;
const line = (what: string, text: string): string => `A line of its stdout ${what}: "${text}".`;
const flooded = "It flooded the kernel: more than 20000 of its messages within a second had to be dropped.";
const stray = "It answered # times without an open request.";
const hung = `It did not finish an event within ${wallLimitMs} ms (max_wall_ms_per_event) and neither computes nor waits for a call or a timer.`;

/** Answers the event correctly, after an answer with another id; "@" is the correct id. */
const answering = (id: string): Uint8Array =>
  hand.onHook(({ say, id: own, reply }) => {
    const [before = "", after] = id.split("@");
    const text = after === undefined ? say(before) : say(before) + own + say(after);
    return say('{"jsonrpc":"2.0","result":{"handlers":["stolen"]},"id":') + text + say("}\n") + reply("{}");
  });

/** The agent keeps running and its events are handled: no answer reached another caller. */
const lives = async (name: string, arena: Arena): Promise<void> => {
  await until(
    "its events to be handled",
    async () => (await agent(arena.client, idOf({ name }))).metrics.events_processed === 3,
  );
  expect((await agent(arena.client, idOf({ name }))).metrics.events_failed).toBe(0);
};

const answers: Hostile[] = [
  {
    name: "twice",
    does: "twice",
    program: hand.onHook(({ reply }) => reply("{}") + reply("{}")),
    traces: [stray],
  },
  { name: "never", does: "with an id that was never asked", program: answering("999999"), traces: [stray] },
  { name: "other", does: "with the id of another request", program: answering("1"), traces: [stray] },
  { name: "text", does: "with its id as a text", program: answering('"@"'), traces: [stray] },
  { name: "fraction", does: "with half an id", program: answering("@.5"), traces: [stray] },
  ...(
    [
      ["boolean", "true", "true"],
      ["null", "null", "null"],
      ["list", "[@]", "[#]"],
      ["object", '{"valueOf":@}', '{"valueOf":#}'],
    ] as const
  ).map(([name, id, shown]) => ({
    name,
    does: `with ${name} for an id`,
    program: answering(id),
    traces: [
      line(
        "is neither a call nor an answer",
        `{"jsonrpc":"2.0","result":{"handlers":["stolen"]},"id":${shown}}`,
      ),
    ],
  })),
].map((hostile) => ({ ...hostile, state: "Active", meanwhile: (arena) => lives(hostile.name, arena) }));

const nested = `{"jsonrpc":"2.0","method":"trace","params":{"fields":${"[".repeat(100)}${"]".repeat(100)}}}`;
const cut = (letter: string): string => `${letter.repeat(120)}…`;
const ended: [string, string, string | Uint8Array, string][] = [
  [
    "garbage",
    "lines that are no JSON",
    hand.repeats("this is not JSON\n"),
    broke(line("is not JSON", "this is not JSON")),
  ],
  [
    "terminal",
    "what a terminal would obey: shown harmless",
    hand.repeats("\u001b[2J\u0007\u0000\n"),
    broke(line("is not JSON", "?[2J??")),
  ],
  ["empty", "empty lines", hand.repeats("\n"), broke(line("is not JSON", ""))],
  [
    "jsonlist",
    "JSON that is no message",
    hand.repeats("[]\n"),
    broke(line("is not a JSON-RPC message", "[]")),
  ],
  [
    "nested",
    "what nests too deep",
    hand.repeats(`${nested}\n`),
    broke(`A line of its stdout nests deeper than 64 levels: "${nested.slice(0, 120)}…".`),
  ],
  ["endless", "a line without end", hand.floods(1, 0x78, 100_000), "The program wrote a line over 1 MiB."],
  ["gigabyte", "a gigabyte of lines", hand.floods(1, 10, 16_384), broke(line("is not JSON", cut("x")))],
  [
    "unknown",
    "notifications that are not known",
    hand.repeats('{"jsonrpc":"2.0","method":"nothing"}\n'),
    broke('It sent the unknown notification "nothing".'),
  ],
  [
    "sameid",
    "calls with an id that is open",
    hand.repeats('{"jsonrpc":"2.0","id":7,"method":"vdfs/count"}\n'),
    broke('It called "vdfs/count" with the id "7", which an open call already uses.'),
  ],
  ["strays", "answers to nothing", hand.repeats('{"jsonrpc":"2.0","id":12345,"result":{}}\n'), flooded],
  [
    "traces",
    "traces",
    hand.repeats('{"jsonrpc":"2.0","method":"trace","params":{"level":"info","message":"m"}}\n'),
    flooded,
  ],
  [
    "notifies",
    "notifications",
    hand.repeats(
      '{"jsonrpc":"2.0","method":"notify","params":{"title":"t","message":"m","severity":"info"}}\n',
    ),
    flooded,
  ],
  [
    "refused",
    "calls that are refused",
    hand.repeats('{"jsonrpc":"2.0","id":"x","method":"trace","params":{"level":"info","message":"m"}}\n'),
    "It flooded the kernel: more than 2000 of its calls within a second had to be refused.",
  ],
  [
    "longstderr",
    "a gigabyte to stderr, which is read no faster than the trace takes it",
    hand.floods(2, 0x78, 16_384),
    hung,
  ],
];
const floods: Hostile[] = ended.map(([name, does, program, why]) => ({
  name,
  does,
  program,
  // On a slow machine a flood may reach its CPU limit first; this tests the other limit.
  resources: { max_cpu_ms_per_event: 5000 },
  state: "Suspended",
  error: last(why),
  traces: [`ended: ${why}`],
}));

const computed = `It computed for # ms on an event; max_cpu_ms_per_event allows ${cpuLimitMs} ms.`;
const typedFloods: Hostile[] = [
  {
    name: "tstraces",
    does: "ctx.trace",
    // A little work in between, so that every machine reaches the limit of floods before the CPU limit.
    program: typed('for (;;) { for (let n = 0; n < 10_000; n++); ctx.trace.info("x".repeat(1000)); }'),
    traces: ['"trace" was dropped or refused # times: more than 200 came within a second.'],
  },
  {
    name: "tscalls",
    does: "host calls, 64 of them at a time and the rest waiting",
    program: typed(
      "for (;;) await Promise.all(Array.from({ length: 200 }, () => ctx.vdfs.count({}).catch(() => {})));",
    ),
  },
  {
    name: "tsrefused",
    does: "calls of what it was not granted",
    program: typed('for (;;) await guest.call("events/emit", { name: "Nope", data: {} }).catch(() => {});'),
    traces: [
      "refused: test.tsrefused did not ask for emit_events; add it to the permissions in its manifest.",
      "refused: # more of its calls within the same second",
    ],
  },
].map((hostile) => ({
  ...hostile,
  // It never stops asking, and is refused at once: no pause counts as the end.
  resources: { max_wall_ms_per_event: 30_000 },
  state: "Suspended",
  error: last(computed),
}));

const cases = [...answers, ...floods, ...typedFloods];
let arena: Arena;
beforeAll(async () => {
  arena = await Arena.open(cases.map(extensionOf), { limits: { active_agents: 40 } });
});
afterAll(() => arena[Symbol.asyncDispose]());

describe("answers", () => contained(() => arena, answers));
describe("floods the kernel with", () => contained(() => arena, floods));
describe("floods the kernel, from TypeScript, with", () => contained(() => arena, typedFloods));
