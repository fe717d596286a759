import { isJsonObject } from "../../../base/json.ts";
import { abiBounds as bounds } from "./bounds.ts";

export type CallId = string | number;

/** A parsed line of the guest's stdout, or what is wrong with it. */
export type GuestMessage =
  | { readonly kind: "call"; readonly id: CallId; readonly method: string; readonly params: unknown }
  | { readonly kind: "notification"; readonly method: string; readonly params: unknown }
  | { readonly kind: "result"; readonly id: CallId; readonly result: unknown }
  | { readonly kind: "error"; readonly id: CallId; readonly error: WireError }
  | { readonly kind: "fault"; readonly fault: string };

export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Parses one line. Never throws. The caller has bounded the line's length. */
export function readMessage(line: string): GuestMessage {
  let message: unknown;
  try {
    message = JSON.parse(line);
  } catch {
    return fault("is not JSON");
  }
  if (!isJsonObject(message)) return fault("is not a JSON-RPC message");
  if (message["jsonrpc"] !== "2.0") return fault('does not say "jsonrpc": "2.0"');
  const { id, method, params } = message;
  if (method !== undefined) {
    if (typeof method !== "string") return fault("has a method that is not a string");
    if (id === undefined) {
      if (params !== undefined && !isJsonObject(params))
        return fault(`sends ${shown(method)} with params that are not an object`);
      return { kind: "notification", method, params: params ?? {} };
    }
    if (!isCallId(id))
      return fault(`calls ${shown(method)} with an id that is neither a string nor a number`);
    // Params of any shape pass: the handler of the call rejects them, so the caller gets an answer.
    return { kind: "call", id, method, params: params ?? {} };
  }
  if (!isCallId(id)) return fault("is neither a call nor an answer");
  const hasResult = "result" in message;
  if (hasResult === "error" in message) return fault("answers with both or neither of result and error");
  if (hasResult) return { kind: "result", id, result: message["result"] };
  const error = message["error"];
  if (!isJsonObject(error) || typeof error["code"] !== "number" || typeof error["message"] !== "string") {
    return fault("answers with an error that has no code or no message");
  }
  return {
    kind: "error",
    id,
    error: { code: error["code"], message: error["message"], data: error["data"] },
  };
}

/** True for an id that a call may have; bounded in length. */
export function isCallId(id: unknown): id is CallId {
  return typeof id === "number"
    ? Number.isFinite(id)
    : typeof id === "string" && id.length <= bounds.maxIdCharacters;
}

function fault(text: string): GuestMessage {
  return { kind: "fault", fault: text };
}

/** Returns a guest's text for use in a message of the kernel: short, and without control characters. */
export function shown(text: string): string {
  const cut = text.slice(0, bounds.maxShownCharacters).replaceAll(/\p{C}/gu, "?");
  return `"${cut}${text.length > bounds.maxShownCharacters ? "…" : ""}"`;
}
