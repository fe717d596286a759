import { afterAll, beforeAll, describe, expect } from "vitest";
import { agent } from "../../support/bench.ts";
import { until } from "../../support/until.ts";
import { Arena } from "./arena.ts";
import { contained, extensionOf, type Hostile, idOf, sentence, wallLimitMs } from "./hostile.ts";
import * as hand from "./programs/by-hand.ts";

const typed = (body: string, more = ""): string => `
import { defineAgent } from "@lares/sdk";
export default defineAgent({ hooks: { async go(event, ctx) { ${body} } }, ${more} });
`;
const last = (why: string): string => `Suspended after 3 failures in a row; the last: ${why}`;
const hung = (what = "an event"): string =>
  `It did not finish ${what} within ${wallLimitMs} ms (max_wall_ms_per_event) and neither computes nor waits for a call or a timer.`;
const gone = (code: number): string => `The program ended by itself with exit code ${code}.`;
const noHandler = 'The program exports no handler "go", which the manifest names.';

/** Waits until all three events were handled. */
const handled =
  (name: string) =>
  async (arena: Arena): Promise<void> => {
    await until(
      "its events to be handled",
      async () => (await agent(arena.client, idOf({ name }))).metrics.events_processed === 3,
    );
  };
/** Then it is told to shut down. */
const stays =
  (name: string) =>
  async (arena: Arena): Promise<void> => {
    await handled(name)(arena);
    await arena.disable(idOf({ name }));
    await arena.said(
      idOf({ name }),
      sentence("onShutdown failed: it was still there # ms after it was told to shut down, and was ended."),
    );
  };

const silent: Hostile[] = [
  { name: "never", does: "a promise that nothing settles", program: typed("await new Promise(() => {});") },
  { name: "sleeps", does: "poll_oneoff for ever", program: hand.sleeps() },
  { name: "stdout", does: "close its stdout, and so its own mouth", program: hand.closesStdout() },
].map((hostile) => ({ ...hostile, state: "Suspended", error: last(hung()), traces: [`ended: ${hung()}`] }));

/** So that the time for shutdown is over first. */
const patience = { max_wall_ms_per_event: 30_000 };
const leaving: Hostile[] = [
  {
    name: "exits",
    does: "exit in a handler",
    program: hand.exits(0),
    state: "Suspended",
    error: last(gone(0)),
  },
  {
    name: "code",
    does: "exit in a handler, with a code",
    program: hand.exits(7),
    state: "Suspended",
    error: last(gone(7)),
  },
  {
    name: "typed",
    does: "exit in a handler, from JavaScript",
    program: typed('globalThis[Symbol.for("lares.guest")].exit(3);'),
    state: "Suspended",
    error: last(gone(3)),
  },
  {
    name: "traps",
    does: "abort in a handler",
    program: hand.traps(),
    state: "Suspended",
    error: last("The program failed: unreachable code was reached, as when a program aborts itself."),
  },
  { name: "once", does: "exit at once", program: hand.exitsAtOnce(), state: "Error", error: gone(0) },
  {
    name: "initialized",
    does: "exit after the answer to initialize",
    program: hand.exitsInitialized(),
    state: "Error",
    error: gone(0),
  },
  {
    name: "answered",
    resources: patience,
    does: "answer shutdown and stay",
    program: hand.stays(true),
    state: "Active",
    meanwhile: stays("answered"),
  },
  {
    name: "ignored",
    resources: patience,
    does: "ignore shutdown",
    program: hand.stays(false),
    state: "Active",
    meanwhile: stays("ignored"),
  },
  {
    name: "waits",
    resources: patience,
    does: "shut down for ever",
    program: typed("", "async onShutdown() { await new Promise(() => {}); }"),
    state: "Active",
    meanwhile: stays("waits"),
  },
];

const initializing: Hostile[] = [
  { name: "nothing", does: "null", program: hand.initializing(({ reply }) => reply("null")) },
  {
    name: "abi",
    does: "another ABI, and nothing of the right type",
    program: hand.initializing(({ reply }) =>
      reply('{"abi":2,"handlers":{"go":true},"tools":"go","jobs":7}'),
    ),
  },
  {
    name: "names",
    does: "thousands of handlers, none of them the manifest's",
    program: hand.initializing(({ reply }) =>
      reply(
        JSON.stringify({ handlers: Array.from({ length: 3000 }, (_, at) => `h${at}`), tools: [], jobs: [] }),
      ),
    ),
  },
  {
    name: "megabyte",
    does: "a megabyte of names",
    program: hand.initializing(({ say, id }) =>
      [
        say('{"jsonrpc":"2.0","id":'),
        id,
        say(',"result":{"tools":[],"jobs":[],"handlers":["'),
        `(local.set $n (i32.const 0)) (loop $more ${say("yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy")} (local.set $n (i32.add (local.get $n) (i32.const 1))) (br_if $more (i32.lt_u (local.get $n) (i32.const 15000))))`,
        say('"]}}\n'),
      ].join(""),
    ),
  },
  {
    name: "prototype",
    does: "its handlers by way of __proto__",
    program: hand.initializing(({ reply }) =>
      reply('{"__proto__":{"handlers":["go"]},"constructor":{"handlers":["go"]}}'),
    ),
  },
].map((hostile) => ({
  ...hostile,
  state: "Error",
  error: noHandler,
  traces: [`did not start: ${noHandler}`],
}));

const refusing: Hostile[] = [
  {
    name: "error",
    does: "an error",
    program: hand.initializing(
      ({ say, id }) =>
        say('{"jsonrpc":"2.0","id":') +
        id +
        say(',"error":{"code":-32601,"message":"I speak another ABI."}}\n'),
    ),
    state: "Error",
    error: "I speak another ABI.",
  },
  {
    name: "silence",
    does: "nothing at all",
    program: hand.initializing(() => "(return)"),
    state: "Error",
    error: hung("its start"),
  },
  {
    name: "waiting",
    does: "nothing, at its top level",
    program: `await new Promise(() => {});\n${typed("")}`,
    state: "Error",
    error: hung("its start"),
  },
  {
    name: "wordless",
    does: "an error without a word",
    program: "throw new Error();\nexport default {};\n",
    state: "Error",
    error: "The program failed without saying why.",
  },
];

const patient: Hostile[] = [
  {
    name: "timer",
    does: "wait for a timer of its own, which it is allowed to: its events wait, and nobody else",
    program: typed("await new Promise(() => setInterval(() => {}, 10_000));"),
    state: "Active",
    meanwhile: async (arena) => {
      expect((await agent(arena.client, "test.timer")).metrics.events_processed).toBe(0);
    },
  },
  {
    name: "rejections",
    does: "leave rejections and throw in timers: told in its trace, and it lives",
    program: typed(
      'void Promise.reject(new Error("nobody hears")); setTimeout(() => { throw new Error("in a timer"); });',
    ),
    state: "Active",
    traces: ["Unhandled rejection: Error: nobody hears", "Uncaught in a timer: Error: in a timer"],
    meanwhile: handled("rejections"),
  },
];

const cases = [...silent, ...leaving, ...initializing, ...refusing, ...patient];
let arena: Arena;
beforeAll(async () => {
  arena = await Arena.open(cases.map(extensionOf), { limits: { active_agents: 40 } });
});
afterAll(() => arena[Symbol.asyncDispose]());

describe("answers no event: ended once it waits for nothing", () => contained(() => arena, silent));
describe("exits when it should not, or stays when it should exit", () => contained(() => arena, leaving));
describe("answers initialize by", () => contained(() => arena, [...initializing, ...refusing]));
describe("is only slow or careless", () => contained(() => arena, patient));
