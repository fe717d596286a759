import { createInterface } from "node:readline/promises";
import { nextTurn } from "../../base/next-turn.ts";
import { cardKeys } from "../keyboard/card-keys.ts";
import { readKeys } from "../keyboard/keys.ts";
import type { Terminal } from "../terminal.ts";

const turnsOfTypedAhead = 4;
/** A line that is neither yes nor no is asked about again; after so many, it is a no. */
const maxAsked = 3;
const keys = `${cardKeys.allow} allow, ${cardKeys.reject} reject`;

/**
 * Asks whether something is allowed, with the keys of cards: a key answers at once. At a terminal that cannot report
 * single keys, a line does. The end of the input and Ctrl-C are a no, and so is Escape.
 */
export async function isAllowed(terminal: Terminal, question: string): Promise<boolean> {
  const prompt = `${question} [${keys}] `;
  using _held = terminal.hold();
  return terminal.canDraw ? await pressed(terminal, prompt) : await written(terminal, prompt);
}

async function pressed(terminal: Terminal, prompt: string): Promise<boolean> {
  const { stdin } = process;
  const wasRaw = stdin.isRaw;
  const done = Promise.withResolvers<boolean>();
  const refuse = (): void => done.resolve(false);
  let isShown = false;
  using _reading = readKeys(stdin, {
    key: ({ name, text, isControl }) => {
      if (isControl && name === "c") return terminal.interrupt();
      // It was typed for what was there before.
      if (!isShown) return;
      const answer = isControl && name === "d" ? false : answerOf(name === "escape" ? "no" : text);
      if (answer !== null) done.resolve(answer);
    },
    paste: () => undefined,
  });
  terminal.interrupted.addEventListener("abort", refuse);
  stdin.once("end", refuse);
  try {
    stdin.setRawMode(true);
    stdin.resume();
    if (terminal.interrupted.aborted) return false;
    for (let turns = 0; turns < turnsOfTypedAhead; turns++) await nextTurn();
    terminal.write(prompt);
    isShown = true;
    const answer = await done.promise;
    // Ctrl-C ended the question without an answer.
    const key = terminal.interrupted.aborted ? "" : answer ? cardKeys.allow : cardKeys.reject;
    terminal.write(`${key}\n`);
    return answer;
  } finally {
    terminal.interrupted.removeEventListener("abort", refuse);
    stdin.off("end", refuse);
    stdin.setRawMode(wasRaw);
    stdin.pause();
  }
}

async function written(terminal: Terminal, prompt: string): Promise<boolean> {
  using lines = createInterface({ input: process.stdin, output: process.stdout, terminal: false });
  const closed = new Promise<null>((resolve) => lines.once("close", () => resolve(null)));
  for (let asked = 0; asked < maxAsked; asked++) {
    const line = lines.question(prompt, { signal: terminal.interrupted }).catch(() => null);
    const given = await Promise.race([line, closed]);
    if (given === null) return false;
    const answer = answerOf(given.trim().toLowerCase());
    if (answer !== null) return answer;
  }
  return false;
}

/** Returns null for what is neither. */
function answerOf(text: string): boolean | null {
  if (["a", "allow", "y", "yes"].includes(text)) return true;
  return ["r", "reject", "n", "no"].includes(text) ? false : null;
}
