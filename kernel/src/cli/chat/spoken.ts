import { plainText } from "../../base/plain-text.ts";

/** Prints answers piece by piece as plain text, and knows how much of each is printed. */
export class Spoken {
  readonly #said: (text: string) => void;
  /** The part of each message that was already printed. */
  readonly #shown = new Map<string, string>();
  /** The first half of a character whose second one has not arrived. */
  #half = "";
  #isMidLine = false;

  constructor(said: (text: string) => void = () => undefined) {
    this.#said = said;
  }

  /** Returns what was printed of a message. */
  of(message: string): string {
    return this.#shown.get(message) ?? "";
  }

  clear(): void {
    this.#shown.clear();
  }

  /** Tells the next piece of a message. */
  add(message: string, text: string): void {
    this.#shown.set(message, this.of(message) + text);
    // A character may arrive in two halves.
    const whole = this.#half + text;
    this.#half = /[\ud800-\udbff]$/.exec(whole)?.[0] ?? "";
    this.#say(plainText(whole.slice(0, whole.length - this.#half.length)));
  }

  /** Tells that a message has ended. */
  end(): void {
    this.#say("\n");
  }

  /** Ends the line of a message that broke off. */
  endLine(): void {
    if (this.#isMidLine) this.end();
  }

  #say(text: string): void {
    if (text === "") return;
    this.#isMidLine = !text.endsWith("\n");
    this.#said(text);
  }
}
