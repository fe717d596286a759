import type { Key } from "./key.ts";
import { readKeys } from "./keys.ts";

/** A message can be pasted whole. */
export const maxPasted = 200_000;
/** More keys than a person presses while a kernel starts. */
const maxInputs = 10_000;

export type TypedInput =
  { readonly kind: "key"; readonly key: Key } | { readonly kind: "paste"; readonly text: string };

interface TypeAheadPorts {
  readonly input: NodeJS.ReadStream;
  /** Ctrl-C was pressed. */
  interrupted(): void;
  /** Called with what was typed so far, on one line. */
  typed(text: string): void;
}

const editing = new Set(["return", "backspace", "delete", "left", "right", "home", "end"]);

/**
 * Keeps what a person types before the screen for it is there. Keys that move to something or decide about it are left
 * out, because the person did not see it.
 */
export class TypeAhead implements Disposable {
  readonly #ports: TypeAheadPorts;
  #inputs: TypedInput[] = [];
  #reading: Disposable | null = null;

  constructor(ports: TypeAheadPorts) {
    this.#ports = ports;
    this.resume();
  }

  /** Lets a question have the terminal, with its usual settings. */
  pause(): void {
    if (this.#reading === null) return;
    this.#stop();
    this.#ports.input.setRawMode(false);
    this.#ports.input.pause();
  }

  resume(): void {
    if (this.#reading !== null) return;
    const { input } = this.#ports;
    this.#reading = readKeys(
      input,
      { key: (key) => this.#key(key), paste: (text) => this.#add({ kind: "paste", text }) },
      maxPasted,
    );
    input.setRawMode(true);
    input.resume();
  }

  /** Ends it, and returns what was typed. The terminal stays as it is for the next reader of keys. */
  take(): readonly TypedInput[] {
    this.#stop();
    const inputs = this.#inputs;
    this.#inputs = [];
    return inputs;
  }

  #stop(): void {
    this.#reading?.[Symbol.dispose]();
    this.#reading = null;
  }

  #key(given: Key): void {
    if (given.isControl && given.name === "c") return this.#ports.interrupted();
    // Before it was read key by key, the terminal made a line feed of Enter.
    const key = given.name === "enter" ? { ...given, name: "return" } : given;
    const leaves = key.isControl && key.name === "d";
    if (key.text !== "" || editing.has(key.name) || leaves) this.#add({ kind: "key", key });
  }

  #add(input: TypedInput): void {
    if (this.#inputs.length >= maxInputs) return;
    this.#inputs.push(input);
    this.#ports.typed(lineOf(this.#inputs));
  }

  [Symbol.dispose](): void {
    this.pause();
  }
}

/** Returns what was typed as far as it can be shown without a cursor. */
function lineOf(inputs: readonly TypedInput[]): string {
  let text = "";
  for (const input of inputs) {
    if (input.kind === "paste") text += input.text;
    else if (input.key.name === "return") text += " ⏎ ";
    else if (input.key.name === "backspace") text = Array.from(text).slice(0, -1).join("");
    else text += input.key.text;
  }
  return text;
}
