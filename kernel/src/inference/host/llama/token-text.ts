import type { LlamaModel, Token } from "node-llama-cpp";

/** A character has at most four bytes, and each may be a token. */
const maxPending = 4;
/** Tokens before a text that decide whether it begins with a space. */
const contextLength = 3;

/** Turns tokens into text one by one; a character that several of them make appears with the last. */
export class TokenText {
  readonly #model: LlamaModel;
  #before: Token[];
  #pending: Token[] = [];

  constructor(model: LlamaModel, before: readonly Token[]) {
    this.#model = model;
    this.#before = before.slice(-contextLength);
  }

  add(token: Token): string {
    this.#pending.push(token);
    const text = this.#model.detokenize(this.#pending, true, this.#before);
    if (text.endsWith("\u{fffd}") && this.#pending.length < maxPending) return "";
    this.#before = [...this.#before, ...this.#pending].slice(-contextLength);
    this.#pending = [];
    return text;
  }
}
