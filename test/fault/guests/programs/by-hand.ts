import { assemble, handMade, type Words } from "../../../support/wasm.ts";

/** Handmade modules: what no compiler would create, and what a language's runtime would prevent. */

const handlers = '{"handlers":["go"],"tools":["ask"],"jobs":[]}';
const initialized = ({ when, reply }: Words): string => when("initialize", reply(handlers));
const goodbye = ({ when, reply }: Words): string =>
  when("shutdown", reply("{}") + "(call $exit (i32.const 0))");
const forEver = "(loop $for_ever (br $for_ever))";
/** Waits for ever and reads nothing more. */
const sleep = `(i32.store8 (i32.const 40000) (i32.const 0)) (loop $for_ever
  (i32.store8 (i32.const 40008) (i32.const 0)) (i32.store (i32.const 40016) (i32.const 1))
  (i64.store (i32.const 40024) (i64.const 1000000000000000)) (i64.store (i32.const 40032) (i64.const 0)) (i32.store16 (i32.const 40040) (i32.const 0))
  (drop (call $poll (i32.const 40000) (i32.const 40100) (i32.const 1) (i32.const 40200))) (br $for_ever))`;

/** Answers `initialize` correctly, runs `body` for an event, and exits at shutdown. */
export const onHook = (body: (words: Words) => string, more = ""): Uint8Array =>
  handMade((words) => [initialized(words), words.when("hook", body(words)), goodbye(words)], more);

/** The same for its tool "ask". */
export const onTool = (body: (words: Words) => string, more = ""): Uint8Array =>
  handMade(
    (words) => [
      initialized(words),
      words.when("hook", words.reply("{}")),
      words.when("tool", body(words)),
      goodbye(words),
    ],
    more,
  );

/** Answers `initialize` with something else. */
export const initializing = (body: (words: Words) => string): Uint8Array =>
  handMade((words) => [words.when("initialize", body(words)), goodbye(words)]);

export const spin = (): Uint8Array => onHook(() => forEver);
export const sleeps = (): Uint8Array => onHook(() => sleep);
export const recursive = (): Uint8Array => onHook(() => "(call $deeper)", "(func $deeper (call $deeper))");

/** Takes all the memory it can and then is silent. */
export const grows = (): Uint8Array =>
  onHook(
    () => "(loop $more (br_if $more (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) (unreachable)",
  );

export const startSpins = (): Uint8Array =>
  assemble(
    `(module (memory (export "memory") 1) (func $spin ${forEver}) (func (export "_start")) (start $spin))`,
  );

/** Exits without a message. */
export const exitsAtOnce = (): Uint8Array =>
  assemble('(module (memory (export "memory") 1) (func (export "_start")))');

export const traps = (): Uint8Array => onHook(() => "(unreachable)");
export const exits = (code: number): Uint8Array => onHook(() => `(call $exit (i32.const ${code}))`);

/** Exits right after it was initialized. */
export const exitsInitialized = (): Uint8Array =>
  initializing(({ reply }) => `${reply(handlers)} (call $exit (i32.const 0))`);

/** Answers shutdown and stays; or does not even answer. */
export const stays = (isAnswered: boolean): Uint8Array =>
  handMade((words) => [
    initialized(words),
    words.when("hook", words.reply("{}")),
    words.when("shutdown", isAnswered ? words.reply("{}") : ""),
  ]);

export const closesStdout = (): Uint8Array =>
  onHook(({ reply }) => `(drop (call $close (i32.const 1))) ${reply("{}")}`);

/** Writes `pieces` times 64 KiB to a descriptor: `x` without end, or ended by `last`. */
export const floods = (
  descriptor: 1 | 2,
  last: number,
  pieces: number,
  body: (words: Words) => string = ({ reply }) => reply("{}"),
): Uint8Array =>
  onHook(
    (words) => `
    (memory.fill (i32.const 1200000) (i32.const 0x78) (i32.const 65536))
    (i32.store8 (i32.const 1265535) (i32.const ${last}))
    (local.set $n (i32.const 0))
    (loop $again
      (i32.store (i32.const 0) (i32.const 1200000)) (i32.store (i32.const 4) (i32.const 65536))
      (drop (call $write (i32.const ${descriptor}) (i32.const 0) (i32.const 1) (i32.const 8)))
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $n) (i32.const ${pieces}))))
    ${body(words)}`,
  );

/** Writes the same text repeatedly, as fast as it is read. `times`: 0 for ever. */
export const repeats = (
  text: string,
  times = 0,
  body: (words: Words) => string = ({ reply }) => reply("{}"),
): Uint8Array =>
  onHook(
    (words) => `
    (local.set $n (i32.const 0))
    (loop $again
      ${words.say(text)}
      (local.set $n (i32.add (local.get $n) (i32.const 1)))
      (br_if $again (i32.ne (local.get $n) (i32.const ${times}))))
    ${body(words)}`,
  );
