import { createInterface } from "node:readline/promises";
import { nextTurn } from "../../base/next-turn.ts";
import { cardKeys, type CardKey } from "../keyboard/card-keys.ts";
import { readKeys } from "../keyboard/keys.ts";
import { padEnd, wrap } from "../render/width.ts";
import type { Terminal } from "../terminal.ts";

/** An answer to a card. */
export interface KeyChoice<Value> {
  readonly key: CardKey | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9";
  readonly words: string;
  readonly hint?: string;
  readonly value: Value;
}

const turnsOfTypedAhead = 4;
const keyColumn = 5;

/** Returns the lines that show which key gives which answer. */
function choiceLines(
  choices: readonly KeyChoice<unknown>[],
  { surface: { style, width } }: Pick<Terminal, "surface">,
): string[] {
  return choices.flatMap(({ key, words, hint }) => {
    const text = hint === undefined ? words : `${words} (${hint})`;
    return wrap(text, width - keyColumn - 3).map(
      (line, row) => `  ${row === 0 ? style.bold(padEnd(key, keyColumn)) : " ".repeat(keyColumn)} ${line}`,
    );
  });
}

/**
 * Shows a question with its answers, and returns the one whose key the person pressed; at a terminal that cannot report single
 * keys, the one whose key or word they wrote. Null after Ctrl-C, or when `signal` is aborted. Pasted text and keys that were
 * typed before the question was there do not count.
 */
export async function pickByKey<Value>(
  terminal: Terminal,
  question: {
    readonly message: string;
    readonly choices: readonly KeyChoice<Value>[];
    readonly signal?: AbortSignal;
  },
): Promise<Value | null> {
  const { message, choices, signal = terminal.interrupted } = question;
  const { style, width } = terminal.surface;
  const show = (): void =>
    terminal.print([
      ...wrap(message, width).map((line) => style.bold(line)),
      ...choiceLines(choices, terminal),
    ]);
  if (!terminal.canDraw) {
    show();
    return written(terminal, choices, signal);
  }
  const choice = await pressed(terminal, choices, signal, show);
  if (choice === null) return null;
  terminal.print(`${style.cyan("›")} ${choice.words}`);
  return choice.value;
}

async function pressed<Value>(
  terminal: Terminal,
  choices: readonly KeyChoice<Value>[],
  signal: AbortSignal,
  show: () => void,
): Promise<KeyChoice<Value> | null> {
  const { stdin } = process;
  const wasRaw = stdin.isRaw;
  const done = Promise.withResolvers<KeyChoice<Value> | null>();
  const aborted = (): void => done.resolve(null);
  let isShown = false;
  let held = terminal.hold();
  using _reading = readKeys(stdin, {
    key: (key) => {
      if (key.isControl && key.name === "c") return terminal.interrupt();
      // It was typed for what was there before.
      if (!isShown || key.isControl) return;
      const found = choices.find((choice) => choice.key === keyNamed(key));
      if (found !== undefined) done.resolve(found);
    },
    paste: () => undefined,
  });
  signal.addEventListener("abort", aborted);
  try {
    stdin.setRawMode(true);
    stdin.resume();
    if (signal.aborted) return null;
    for (let turns = 0; turns < turnsOfTypedAhead; turns++) await nextTurn();
    held[Symbol.dispose]();
    show();
    held = terminal.hold();
    isShown = true;
    return await done.promise;
  } finally {
    signal.removeEventListener("abort", aborted);
    stdin.setRawMode(wasRaw);
    stdin.pause();
    held[Symbol.dispose]();
  }
}

function keyNamed({ name, text }: { readonly name: string; readonly text: string }): string {
  if (name === "return" || name === "enter") return cardKeys.more;
  if (name === "escape") return cardKeys.later;
  return text;
}

/** For a terminal without single keys: the answer is a line. */
async function written<Value>(
  terminal: Terminal,
  choices: readonly KeyChoice<Value>[],
  signal: AbortSignal,
): Promise<Value | null> {
  using _held = terminal.hold();
  using lines = createInterface({ input: process.stdin, output: process.stdout, terminal: false });
  const closed = new Promise<null>((resolve) => lines.once("close", () => resolve(null)));
  // A line has no Esc.
  const names = choices.map(({ key, words }) => (key === cardKeys.later ? words : key)).join(", ");
  for (;;) {
    const answer = await Promise.race([
      lines.question(`Write one of ${names}: `, { signal }).catch(() => null),
      closed,
    ]);
    if (answer === null || signal.aborted) return null;
    const found = choices.find((choice) => isNamed(choice, answer.trim().toLowerCase()));
    if (found !== undefined) return found.value;
  }
}

/** Returns true if a written answer means this choice: its key, or its first word. */
export function isNamed({ key, words }: KeyChoice<unknown>, answer: string): boolean {
  if (answer === "") return key === cardKeys.more;
  return answer === key.toLowerCase() || answer === /^\w+/.exec(words)?.[0].toLowerCase();
}
