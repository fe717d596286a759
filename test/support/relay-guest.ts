import type { Client } from "./client.ts";
import type { TraceEntry } from "./types.ts";
import { until } from "./until.ts";
import { handMade } from "./wasm.ts";

/** Where a relayed line is assembled; the current line ends before it. */
const RELAYED = 1_572_864;
const CALL_ID = "call-1";

const unhex = `
  (func $digit (param $at i32) (result i32)
    (local $byte i32)
    (local.set $byte (i32.load8_u (local.get $at)))
    (select
      (i32.sub (local.get $byte) (i32.const 48))
      (i32.sub (local.get $byte) (i32.const 87))
      (i32.lt_u (local.get $byte) (i32.const 58))))
  (func $relay (param $start i32)
    (local $from i32) (local $to i32)
    (local.set $from (i32.add (i32.const 65536) (local.get $start)))
    (local.set $to (i32.const ${RELAYED}))
    (block $done (loop $more
      (br_if $done (i32.eq (i32.load8_u (local.get $from)) (i32.const 34)))
      (i32.store8 (local.get $to) (i32.add
        (i32.shl (call $digit (local.get $from)) (i32.const 4))
        (call $digit (i32.add (local.get $from) (i32.const 1)))))
      (local.set $from (i32.add (local.get $from) (i32.const 2)))
      (local.set $to (i32.add (local.get $to) (i32.const 1)))
      (br $more)))
    (call $emit (i32.const ${RELAYED}) (i32.sub (local.get $to) (i32.const ${RELAYED}))))`;

/**
 * A handmade guest that does on the wire what a test tells it. Its tool `call` writes the line that it gets in
 * hexadecimal digits, and returns the kernel's answer; `say` writes a line that nothing answers. Every other request is
 * traced in full, as `line`; jobs, tasks and hooks named `hold` are answered by the test, and a hook named `asked` by `{}`.
 */
export function relayGuest(): Uint8Array {
  return handMade(({ say, reply, when, on, keepId, keptId, line }) => {
    const noted = `${say('{"jsonrpc":"2.0","method":"trace","params":{"level":"info","message":"a request","fields":{"line":')} ${line} ${say("}}}\\n".replace("\\n", "\n"))}`;
    const relay = "(call $relay (i32.add (call $find (i32.const 24) (i32.const 7)) (i32.const 7)))";
    // The seven bytes \`"hex":"\` at 24, where the guest has no other text.
    const needle = "(i64.store (i32.const 24) (i64.const 0x00223a2278656822))";
    return [
      needle,
      on('"name":"call"', keepId + relay),
      on('"name":"say"', relay + reply('{"status":"success"}')),
      when(
        "initialize",
        noted +
          reply(
            '{"handlers":["seen","asked","hold"],"tools":["call","say","greet","wait"],"jobs":["scan"],"tasks":["shelf"],"actions":["readNote"],"migrations":["Person"],"cancels_tools":true,"max_open_hooks":1}',
          ),
      ),
      when(
        "action",
        noted +
          reply(
            '{"effects":[{"kind":"tag.add","path":"notes/ada.md","tag":"#read"}],"title":"Mark Ada as read","reason":"Ada was read."}',
          ),
      ),
      when("migrate", noted + reply('{"values":[{"id":"ada","name":"Ada","born":1815}]}')),
      on('"method":"job"', noted),
      on('"method":"task"', noted),
      on('"handler":"hold"', noted),
      on('"handler":"asked"', noted + reply("{}")),
      on('"name":"wait"', noted),
      on('"name":"greet"', noted + reply('{"status":"success","value":"Hello, Ada."}')),
      when("shutdown", noted + reply("null") + "(call $exit (i32.const 0))"),
      when("ping", noted + reply('{"pending_timers":0}')),
      on('"method":', noted + reply("null")),
      on(
        `"id":"${CALL_ID}"`,
        `${say('{"jsonrpc":"2.0","id":')} ${keptId} ${say(',"result":{"status":"success","value":')} ${line} ${say("}}\n")}`,
      ),
    ];
  }, unhex);
}

const hex = (message: object): string => Buffer.from(`${JSON.stringify(message)}\n`).toString("hex");

/** Makes a host call from within the guest; returns the kernel's line. */
export async function hostCall(
  client: Client,
  agent: string,
  method: string,
  params: object,
): Promise<{ result?: unknown; error?: { code: number; message: string; data?: unknown } }> {
  const answer = await client.request<{ value: { result?: unknown } }>("lares/tools/call", {
    agent,
    name: "call",
    arguments: { hex: hex({ jsonrpc: "2.0", id: CALL_ID, method, params }) },
  });
  return answer.value;
}

/** Writes a line in the guest's name. */
export async function say(client: Client, agent: string, message: object): Promise<void> {
  await client.request("lares/tools/call", {
    agent,
    name: "say",
    arguments: { hex: hex({ jsonrpc: "2.0", ...message }) },
  });
}

/** A request that the kernel sent to the guest, as the guest read it. */
interface GuestLine {
  readonly id: number;
  readonly method: string;
  readonly params: Record<string, unknown>;
}

/** Resolves to the newest request of this method that the guest got. */
export function heard(client: Client, agent: string, method: string): Promise<GuestLine> {
  return until(`${agent} to be sent ${method}`, async () => {
    const traces = await client.request<TraceEntry[]>("lares/traces/query", { agent, text: "a request" });
    return traces
      .map(({ fields }) => (fields as { line?: GuestLine } | undefined)?.line)
      .find((line) => line?.method === method);
  });
}
