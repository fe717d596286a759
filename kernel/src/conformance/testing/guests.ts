import { assemble, handMade, type Words } from "../../../../test/support/wasm.ts";

/** The manifest of the guests here, as conformance reads it. */
export const manifest = {
  hooks: [
    { handler: "seen", event: { name: "EntryCreated", location: "." }, isQuestion: false },
    { handler: "asked", event: { name: "BeforeToolCall", tool: "files/read" }, isQuestion: true },
  ],
  tools: [{ name: "ask", handler: "ask", arguments: {} }],
  actions: [{ name: "file", handler: "file", arguments: {} }],
} as const;

const said =
  '{"handlers":["seen","asked"],"tools":["ask"],"jobs":["scan"],"actions":["file"],"tasks":["shelf"],"migrations":["Book"],"cancels_tools":true,"max_open_hooks":4}';
const exit = "(call $exit (i32.const 7))";
const success = '{"status":"success","value":"done"}';
/** The id of a call that nobody waits for. */
const asideId = 9001;

/** Calls the kernel for the current request, which `answering` answers; any number may be open. */
const callFor = ({ say, id }: Words, mark: string, method: string, params: string): string =>
  `${say(`{"jsonrpc":"2.0","id":"${mark}`)} ${id} ${say(`","method":"${method}","params":${params}}\n`)}`;

/** Answers the request for which the call was made whose answer is the current line. */
const answering = ({ say, on }: Words, mark: string, result: string, more = ""): string =>
  on(
    `"id":"${mark}`,
    `${more} ${say('{"jsonrpc":"2.0","id":')}
     (call $emit (i32.add (call $idAt) (i32.const 2)) (i32.sub (call $idLength) (i32.const 3)))
     ${say(`,"result":${result}}\n`)}`,
  );

/** The reactions of a handmade guest to each kind of line, as WebAssembly text. */
interface Parts {
  /** Before anything else, for every line. */
  readonly first: string;
  readonly initialize: string;
  readonly migrate: string;
  readonly startup: string;
  readonly ping: string;
  readonly hook: string;
  readonly tool: string;
  readonly toolResult: string;
  /** When the call of a tool is answered. */
  readonly toolEnds: string;
  readonly action: string;
  readonly task: string;
  readonly job: string;
  /** When the call of a job is answered. */
  readonly jobEnds: string;
  readonly cancelJob: string;
  readonly cancelTool: string;
  readonly permissionChange: string;
  readonly shutdown: string;
  readonly unknown: string;
  readonly unknownNotification: string;
}

/** A guest that holds every rule, with some of its parts replaced. `more`: functions and globals of its own. */
function guest(change: (words: Words) => Partial<Parts> = () => ({}), more = ""): Uint8Array {
  return handMade((words) => {
    const { say, reply, when, on, id } = words;
    const parts: Parts = {
      first: "",
      initialize: reply(said),
      migrate: ["[]", "[{}]"]
        .map((values) => on(`"values":${values}`, reply(`{"values":${values}}`)))
        .join(" "),
      startup:
        say('{"jsonrpc":"2.0","method":"trace","params":{"level":"info","message":"here"}}\n') + reply("{}"),
      ping: reply('{"pending_timers":0}'),
      hook: reply("{}"),
      tool: callFor(words, "t", "vdfs/count", "{}"),
      toolResult: success,
      toolEnds: "",
      action: reply('{"effects":[],"reason":"nothing to do"}'),
      task: reply("{}"),
      job: callFor(words, "j", "jobs/checkpoint", '{"data":{"next":1}}'),
      jobEnds: "",
      cancelJob: reply("{}"),
      cancelTool: reply("{}"),
      permissionChange: reply("{}"),
      shutdown: reply("{}") + exit,
      unknown: `${say('{"jsonrpc":"2.0","id":')} ${id} ${say(',"error":{"code":-32601,"message":"unknown"}}\n')}`,
      unknownNotification: "",
      ...change(words),
    };
    return [
      parts.first,
      when("initialize", parts.initialize),
      when("migrate", parts.migrate),
      when("startup", parts.startup),
      when("ping", parts.ping),
      when("hook", parts.hook),
      when("tool", parts.tool),
      when("action", parts.action),
      when("task", parts.task),
      when("job", parts.job),
      when("cancelJob", parts.cancelJob),
      when("cancelTool", parts.cancelTool),
      when("permissionChange", parts.permissionChange),
      when("shutdown", parts.shutdown),
      on('"method":', on('"id":', parts.unknown) + parts.unknownNotification),
      answering(words, "t", parts.toolResult, parts.toolEnds),
      answering(words, "j", "{}", parts.jobEnds),
    ];
  }, more);
}

/** A guest that makes every rule applicable and holds it. */
export const soundGuest = (): Uint8Array => guest();

const counter = "(global $n (mut i32) (i32.const 0))";
const count = (by: number): string => `(global.set $n (i32.add (global.get $n) (i32.const ${by})))`;
const aside = (count: number, params: string, id = (index: number) => asideId + index): string =>
  Array.from(
    { length: count },
    (_none, index) => `{"jsonrpc":"2.0","id":${id(index)},"method":"vdfs/count","params":${params}}\n`,
  ).join("");
/** One guest for each rule, which violates that rule and no other. */
export const violatingGuests: Readonly<Record<string, () => Uint8Array>> = {
  imports: () =>
    assemble('(module (import "env" "door" (func)) (memory (export "memory") 1) (func (export "_start")))'),
  initialize: () => guest(({ reply }) => ({ initialize: reply('{"handlers":"seen"}') })),
  "manifest-handlers": () =>
    guest(({ reply }) => ({
      initialize: reply('{"handlers":["seen","asked"],"tools":[],"jobs":["scan"],"actions":["file"]}'),
    })),
  migrations: () => guest(({ reply }) => ({ migrate: reply('{"values":[]}') })),
  startup: () => guest(() => ({ startup: "" })),
  ping: () => guest(({ reply }) => ({ ping: reply('"pong"') })),
  lines: () => guest(({ reply, dropRest }) => ({ ping: reply("{}") + dropRest })),
  "unknown-method": () => guest(({ reply }) => ({ unknown: reply("{}") })),
  "unknown-fields": () => guest(({ on }) => ({ first: on('"added_later"', exit) })),
  "unknown-notification": () =>
    guest(({ say, on }) => ({
      unknownNotification: on('"params"', say('{"jsonrpc":"2.0","id":null,"result":{}}\n')),
    })),
  "malformed-lines": () => guest(({ on }) => ({ first: on("no JSON", exit) })),
  "largest-line": () =>
    guest(() => ({ first: `(if (i32.gt_u (global.get $length) (i32.const 1000000)) (then ${exit}))` })),
  "oversized-line": () =>
    guest(() => ({ first: "(if (i32.gt_u (global.get $length) (i32.const 1048575)) (then (unreachable)))" })),
  "unknown-answers": () => guest(({ on }) => ({ first: on("nobody asked", exit) })),
  jobs: () => guest(() => ({ job: "" })),
  "job-checkpoint": () =>
    guest((words) => ({
      job: words.on('"checkpoint":', "") + callFor(words, "j", "jobs/checkpoint", '{"data":{"next":1}}'),
    })),
  "cancel-job": () => guest(() => ({ cancelJob: "" })),
  hooks: () => guest(({ on, reply }) => ({ hook: on('"handler":"seen"', "") + reply("{}") })),
  "hook-order": () =>
    guest((words) => ({
      hook: words.on('"handler":"asked"', words.reply("{}")) + callFor(words, "t", "vdfs/count", "{}"),
    })),
  questions: () => guest(({ on, reply }) => ({ hook: on('"handler":"asked"', reply('"no"')) + reply("{}") })),
  tools: () => guest(() => ({ toolResult: '{"status":"fine"}' })),
  actions: () => guest(({ reply }) => ({ action: reply('{"effects":"none"}') })),
  tasks: () => guest(() => ({ task: "" })),
  "ping-while-waiting": () =>
    guest(
      (words) => ({
        ping: `(if (i32.eqz (global.get $n)) (then ${words.reply("{}")}))`,
        job: count(1) + callFor(words, "j", "jobs/checkpoint", '{"data":{"next":1}}'),
        jobEnds: count(-1),
      }),
      counter,
    ),
  load: () =>
    guest(
      (words) => ({
        tool: `${count(1)} (if (i32.lt_u (global.get $n) (i32.const 10)) (then ${callFor(words, "t", "vdfs/count", "{}")}))`,
        toolEnds: count(-1),
      }),
      counter,
    ),
  "host-call-errors": () => guest(({ on }) => ({ first: on('"PermissionDenied"', exit) })),
  "cancel-tool": () => guest(({ on, reply }) => ({ cancelTool: on("no-such-call", "") + reply("{}") })),
  "permission-change": () => guest(() => ({ permissionChange: exit })),
  shutdown: () => guest(({ reply }) => ({ shutdown: reply("{}") })),
  "stdout-messages": () => guest(({ say, reply }) => ({ startup: say("hello\n") + reply("{}") })),
  "line-length": () =>
    guest(({ reply }) => ({
      permissionChange: `(memory.fill (i32.const 100000) (i32.const 0x78) (i32.const 1900000))
        (call $emit (i32.const 100000) (i32.const 1900000)) ${reply("{}")}`,
    })),
  "answer-ids": () => guest(({ reply }) => ({ permissionChange: reply("{}") + reply("{}") })),
  "call-ids": () =>
    guest(({ say, reply }) => ({ permissionChange: say(aside(2, "{}", () => asideId)) + reply("{}") })),
  "open-calls": () => guest(({ say, reply }) => ({ permissionChange: say(aside(65, "{}")) + reply("{}") })),
  "host-calls": () =>
    guest(({ say, reply }) => ({ permissionChange: say(aside(1, '{"colour":"red"}')) + reply("{}") })),
  "guest-notifications": () =>
    guest(({ say, reply }) => ({
      startup: say('{"jsonrpc":"2.0","method":"log","params":{}}\n') + reply("{}"),
    })),
};
