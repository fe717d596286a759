import createWabt from "wabt";

const wabt = await createWabt();

/** Assembles WebAssembly text into a module's bytes. */
export function assemble(text: string): Uint8Array {
  const module = wabt.parseWat("agent.wat", text);
  try {
    return new Uint8Array(module.toBinary({}).buffer);
  } finally {
    module.destroy();
  }
}

const LINE = 65_536; // the address of the line that is being read
const PIECE = 65_536; // bytes that are read at a time
const SAVED = 1_048_576; // the address of the id of an open tool call
const CALL_ID = 4242;

/** The building blocks of a handmade guest: each is WebAssembly text. */
export interface Words {
  /** Writes the text to its stdout unchanged. */
  say(text: string): string;
  /** Answers the current request. */
  reply(result: string): string;
  /** The id of the current request, unchanged. */
  readonly id: string;
  /** Runs `body` and finishes if the current line contains this text. */
  on(text: string, body: string): string;
  /** The same for a request's method. */
  when(method: string, body: string): string;
  /** Stores the request's id, for a later answer. */
  readonly keepId: string;
  readonly keptId: string;
  /** The whole current line. */
  readonly line: string;
  /** Forgets what was read behind the current line. */
  readonly dropRest: string;
}

/**
 * A handmade guest that reads one JSON-RPC message a line and handles it with `handle`. It finds a message's id and
 * method by their spelling in compact JSON and knows nothing else. Other messages are answered with `{}`. `more` are
 * functions of its own, `imports` is merged into it.
 */
export function handMade(handle: (words: Words) => readonly string[], more = "", imports = ""): Uint8Array {
  const texts: string[] = [];
  let end = 64;
  /** Puts a text into memory and returns its address and length as two constants. */
  const text = (value: string): string => {
    const bytes = Buffer.from(value, "utf8");
    const escaped = [...bytes].map((byte) => `\\${byte.toString(16).padStart(2, "0")}`).join("");
    texts.push(`(data (i32.const ${end}) "${escaped}")`);
    const place = `(i32.const ${end}) (i32.const ${bytes.length})`;
    end += bytes.length;
    if (end > LINE) throw new Error(`A guest made by hand has room for ${LINE} bytes of text.`);
    return place;
  };
  const on = (spelling: string, body: string): string =>
    `(if (i32.ge_s (call $find ${text(spelling)}) (i32.const 0)) (then ${body} (return)))`;
  const say = (value: string): string => `(call $emit ${text(value)})`;
  const words: Words = {
    say,
    on,
    id: "(call $emitId)",
    reply: (result) => `${say('{"jsonrpc":"2.0","id":')} (call $emitId) ${say(`,"result":${result}}\n`)}`,
    when: (method, body) => on(`"method":"${method}"`, body),
    keepId: "(call $saveId)",
    keptId: `(call $emit (i32.const ${SAVED}) (global.get $saved))`,
    line: `(call $emit (i32.const ${LINE}) (global.get $length))`,
    dropRest: "(global.set $rest (i32.const 0))",
  };
  const handled = [
    ...handle(words),
    `(if (i32.ge_s (call $find ${text('"method":')}) (i32.const 0)) (then
       (if (i32.ge_s (call $find ${text('"id":')}) (i32.const 0)) (then ${words.reply("{}")})) (return)))`,
  ].join("\n");
  return assemble(`(module
    (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
    (import "wasi_snapshot_preview1" "fd_close" (func $close (param i32) (result i32)))
    (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
    ${imports}
    (memory (export "memory") 32)
    ${more}
    (global $length (mut i32) (i32.const 0))
    (global $saved (mut i32) (i32.const 0))
    (func $emit (param $at i32) (param $count i32)
      (block $done (loop $more
        (br_if $done (i32.eqz (local.get $count)))
        (i32.store (i32.const 0) (local.get $at))
        (i32.store (i32.const 4) (local.get $count))
        (br_if $done (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))
        (local.set $at (i32.add (local.get $at) (i32.load (i32.const 8))))
        (local.set $count (i32.sub (local.get $count) (i32.load (i32.const 8))))
        (br $more))))
    (func $find (param $at i32) (param $count i32) (result i32)
      (local $start i32) (local $index i32)
      (block $none (loop $next
        (br_if $none (i32.gt_s (i32.add (local.get $start) (local.get $count)) (global.get $length)))
        (local.set $index (i32.const 0))
        (block $differs (loop $same
          (if (i32.eq (local.get $index) (local.get $count)) (then (return (local.get $start))))
          (br_if $differs (i32.ne
            (i32.load8_u (i32.add (i32.const ${LINE}) (i32.add (local.get $start) (local.get $index))))
            (i32.load8_u (i32.add (local.get $at) (local.get $index)))))
          (local.set $index (i32.add (local.get $index) (i32.const 1)))
          (br $same)))
        (local.set $start (i32.add (local.get $start) (i32.const 1)))
        (br $next)))
      (i32.const -1))
    (func $idAt (result i32) (i32.add (i32.const ${LINE + 5}) (call $find ${text('"id":')})))
    (func $idLength (result i32)
      (local $at i32) (local $byte i32)
      (local.set $at (call $idAt))
      (loop $next
        (local.set $byte (i32.load8_u (local.get $at)))
        (if (i32.and (i32.ne (local.get $byte) (i32.const 44)) (i32.ne (local.get $byte) (i32.const 125)))
          (then (local.set $at (i32.add (local.get $at) (i32.const 1))) (br $next))))
      (i32.sub (local.get $at) (call $idAt)))
    (func $emitId (call $emit (call $idAt) (call $idLength)))
    (func $saveId
      (global.set $saved (call $idLength))
      (memory.copy (i32.const ${SAVED}) (call $idAt) (global.get $saved)))
    (func $handle (local $n i32) ${handled})
    (global $rest (mut i32) (i32.const 0))
    (func (export "_start")
      (local $filled i32) (local $scanned i32)
      (loop $next
        (i32.store (i32.const 0) (i32.add (i32.const ${LINE}) (local.get $filled)))
        (i32.store (i32.const 4) (i32.const ${PIECE}))
        (if (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)) (then (return)))
        (if (i32.eqz (i32.load (i32.const 8))) (then (return)))
        (local.set $filled (i32.add (local.get $filled) (i32.load (i32.const 8))))
        (block $more (loop $scan
          (br_if $more (i32.ge_u (local.get $scanned) (local.get $filled)))
          (if (i32.eq (i32.load8_u (i32.add (i32.const ${LINE}) (local.get $scanned))) (i32.const 10))
            (then
              (global.set $length (local.get $scanned))
              (global.set $rest (i32.sub (i32.sub (local.get $filled) (local.get $scanned)) (i32.const 1)))
              (call $handle)
              (memory.copy (i32.const ${LINE})
                (i32.add (i32.const ${LINE + 1}) (local.get $scanned)) (global.get $rest))
              (local.set $filled (global.get $rest))
              (local.set $scanned (i32.const 0)))
            (else (local.set $scanned (i32.add (local.get $scanned) (i32.const 1)))))
          (br $scan)))
        (br $next)))
    ${texts.join("\n")})`);
}

/**
 * A handmade guest that speaks the ABI. A hook writes a trace line; its tool `conflict` swaps working memory at a wrong
 * revision, and returns the kernel's answer unchanged.
 */
export function abiGuest(): Uint8Array {
  return handMade(({ say, reply, when, on, keepId, keptId, line }) => [
    when("initialize", reply('{"handlers":["seen"],"tools":["conflict"],"jobs":[]}')),
    when(
      "hook",
      say(
        '{"jsonrpc":"2.0","method":"trace","params":{"level":"info","message":"the hand-made guest saw it","fields":{"by":"hand"}}}\n',
      ) + reply("null"),
    ),
    when(
      "tool",
      keepId +
        say(
          `{"jsonrpc":"2.0","id":${CALL_ID},"method":"memory/working/swap","params":{"revision":999,"state":{}}}\n`,
        ),
    ),
    when("shutdown", reply("{}") + "(call $exit (i32.const 0))"),
    // A line without a method is the answer to its own call. It is returned as the tool's value.
    on(
      `"jsonrpc":"2.0","id":${CALL_ID}`,
      `${say('{"jsonrpc":"2.0","id":')} ${keptId} ${say(',"result":{"status":"success","value":')} ${line} ${say("}}\n")}`,
    ),
  ]);
}
