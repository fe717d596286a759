import { emitKeypressEvents, type Key as NodeKey } from "node:readline";
import type { Key } from "./input.ts";

/** So long after Escape, what follows is a key of its own. */
const escapeMs = 50;
/** Characters of one paste that are taken. */
const maxPaste = 4000;

export interface KeyListeners {
  key(key: Key): void;
  paste(text: string): void;
}

/**
 * Hears the keys of a terminal in raw mode, as Node decodes them. What is pasted comes as a paste and never as keys, where
 * the terminal says so (bracketed paste).
 */
export function hearKeys(input: NodeJS.ReadStream, listeners: KeyListeners): Disposable {
  let pasted: string | null = null;
  const onKey = (text: string | undefined, key: NodeKey): void => {
    if (key.name === "paste-start") pasted = "";
    else if (key.name === "paste-end") {
      if (pasted !== null) listeners.paste(pasted);
      pasted = null;
    } else if (pasted !== null) pasted = (pasted + (key.sequence ?? text ?? "")).slice(0, maxPaste);
    else listeners.key(keyOf(text, key));
  };
  // Its type is the interface's, of which it reads only this.
  emitKeypressEvents(input, { escapeCodeTimeout: escapeMs } as never);
  input.on("keypress", onKey);
  return { [Symbol.dispose]: () => void input.off("keypress", onKey) };
}

function keyOf(text: string | undefined, { name, ctrl, shift, meta, sequence }: NodeKey): Key {
  const written = text ?? sequence ?? "";
  const isWritten = ctrl !== true && meta !== true && isPrintable(written);
  return {
    name: name ?? written,
    text: isWritten ? written : "",
    isControl: ctrl === true,
    isShift: shift === true,
  };
}

function isPrintable(text: string): boolean {
  return text !== "" && !/[\p{Cc}\p{Cs}]/u.test(text);
}
