import { emitKeypressEvents, type Key as NodeKey } from "node:readline";
import type { Key } from "./key.ts";

/** After this time, input that follows Escape is a new key. */
const escapeMs = 50;
/** The number of characters accepted from one paste, unless a screen takes more. */
const maxPaste = 4000;

interface KeyListeners {
  key(key: Key): void;
  paste(text: string): void;
}

/**
 * Reports the keys of a terminal in raw mode, as decoded by Node. Pasted text is reported as a paste and never as keys,
 * if the terminal supports it (bracketed paste).
 */
export function readKeys(
  input: NodeJS.ReadStream,
  listeners: KeyListeners,
  mostPasted = maxPaste,
): Disposable {
  let pasted: string | null = null;
  const onKey = (text: string | undefined, key: NodeKey): void => {
    if (key.name === "paste-start") pasted = "";
    else if (key.name === "paste-end") {
      if (pasted !== null) listeners.paste(pasted);
      pasted = null;
    } else if (pasted !== null) pasted = (pasted + (key.sequence ?? text ?? "")).slice(0, mostPasted);
    else listeners.key(keyOf(text, key));
  };
  // A cast, because the type demands a whole interface, of which only this option is used.
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
    ...(meta === true ? { isMeta: true } : {}),
  };
}

function isPrintable(text: string): boolean {
  return text !== "" && !/[\p{Cc}\p{Cs}]/u.test(text);
}
