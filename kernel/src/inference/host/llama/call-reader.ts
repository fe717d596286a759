import type { CallFormat } from "./call-format.ts";

type CallPiece =
  | { readonly type: "call"; readonly tool: string }
  | { readonly type: "arguments"; readonly text: string; readonly isLast: boolean };

/** Reads the calls of a text that follows their grammar, while it arrives. */
export class CallReader {
  readonly #format: CallFormat;
  /** If one name begins with another, the longer one comes first. */
  readonly #tools: readonly string[];
  #place: "name" | "arguments" | "after" = "name";
  #rest = "";
  #depth = 0;
  #isInText = false;
  #isEscaped = false;

  constructor(tools: readonly string[], format: CallFormat) {
    this.#tools = tools.toSorted((one, other) => other.length - one.length);
    this.#format = format;
  }

  push(text: string): readonly CallPiece[] {
    this.#rest += text;
    const pieces: CallPiece[] = [];
    for (;;) {
      const piece = this.#next();
      if (piece === null) return pieces;
      if (piece !== "skipped") pieces.push(piece);
    }
  }

  #next(): CallPiece | "skipped" | null {
    const { beforeArguments, afterArguments, between } = this.#format;
    switch (this.#place) {
      case "name": {
        const tool = this.#tools.find((name) => this.#rest.startsWith(name + beforeArguments));
        if (tool === undefined) return null;
        this.#rest = this.#rest.slice(tool.length + beforeArguments.length);
        this.#place = "arguments";
        return { type: "call", tool };
      }
      case "arguments":
        return this.#rest === "" ? null : this.#arguments();
      case "after": {
        const length = afterArguments.length + (between?.length ?? 0);
        if (between === null || this.#rest.length < length) return null;
        this.#rest = this.#rest.slice(length);
        this.#place = "name";
        return "skipped";
      }
    }
  }

  /** Takes the object up to its last bracket. */
  #arguments(): CallPiece {
    const text = this.#rest;
    for (let at = 0; at < text.length; at++) {
      const character = text[at];
      if (this.#isEscaped) this.#isEscaped = false;
      else if (this.#isInText) {
        if (character === "\\") this.#isEscaped = true;
        else if (character === '"') this.#isInText = false;
      } else if (character === '"') this.#isInText = true;
      else if (character === "{" || character === "[") this.#depth++;
      else if ((character === "}" || character === "]") && --this.#depth === 0) {
        this.#rest = text.slice(at + 1);
        this.#place = "after";
        return { type: "arguments", text: text.slice(0, at + 1), isLast: true };
      }
    }
    this.#rest = "";
    return { type: "arguments", text, isLast: false };
  }
}
