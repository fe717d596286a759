/** The JSON-RPC 2.0 message shapes that are checked on arrival. */
export type MessageId = string | number;

export interface RequestMessage {
  readonly jsonrpc: "2.0";
  readonly id: MessageId;
  readonly method: string;
  readonly params?: unknown;
}
export interface NotificationMessage {
  readonly jsonrpc: "2.0";
  readonly method: string;
  readonly params?: unknown;
}
export interface ResponseMessage {
  readonly jsonrpc: "2.0";
  readonly id: MessageId | null;
  readonly result?: unknown;
  readonly error?: WireError;
}
export interface WireError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}
export type RpcMessage = RequestMessage | NotificationMessage | ResponseMessage;

export function isRequest(message: RpcMessage): message is RequestMessage {
  return "method" in message && "id" in message;
}
export function isNotification(message: RpcMessage): message is NotificationMessage {
  return "method" in message && !("id" in message);
}
export function isResponse(message: RpcMessage): message is ResponseMessage {
  return !("method" in message);
}

/** The answer to a refused frame. */
export interface Refusal {
  readonly code: number;
  readonly message: string;
  readonly id: MessageId | null;
}

/** JSON-RPC's own errors; the kernel's errors are in `errors.ts`. */
export const faultCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  serverNotInitialized: -32002,
  requestFailed: -32803,
  requestCancelled: -32800,
} as const;

/** Returns why a parsed body is not a message; null if it is one. */
export function refusalOf(value: unknown): Refusal | null {
  const refuse = (message: string, id: MessageId | null = null): Refusal => ({
    code: faultCodes.invalidRequest,
    message,
    id,
  });
  if (Array.isArray(value))
    return refuse("Batches (JSON arrays) are not part of the base protocol; send one message a frame.");
  if (typeof value !== "object" || value === null)
    return refuse(`A message must be a JSON object, not ${value === null ? "null" : `a ${typeof value}`}.`);
  const message = value as Record<string, unknown>;
  const id = isMessageId(message["id"]) ? message["id"] : null;
  const hasMethod = "method" in message;
  const answerable = hasMethod ? id : null;
  if (message["jsonrpc"] !== "2.0") return refuse('A message must carry "jsonrpc": "2.0".', answerable);
  if (!hasMethod)
    return id === null
      ? message["id"] === null && "error" in message
        ? null
        : noMethod(refuse)
      : noResult(message, refuse);
  if (typeof message["method"] !== "string") return refuse("A message's method must be a string.", id);
  if ("id" in message && id === null) return refuse("A request's id must be a string or an integer.");
  const params = message["params"];
  if (params !== undefined && typeof params !== "object")
    return refuse("A message's params must be an object or an array.", id);
  return null;
}

function noMethod(refuse: (message: string) => Refusal): Refusal {
  return refuse("A message must have a method, or be the answer to a request.");
}

function noResult(message: Record<string, unknown>, refuse: (message: string) => Refusal): Refusal | null {
  const error = message["error"];
  if ("error" in message && error !== null && error !== undefined) {
    const isError =
      typeof error === "object" &&
      "code" in error &&
      typeof error.code === "number" &&
      "message" in error &&
      typeof error.message === "string";
    return isError ? null : refuse("A response's error must have a numeric code and a message.");
  }
  return "result" in message ? null : refuse("A response must have a result or an error.");
}

export function isMessageId(value: unknown): value is MessageId {
  return typeof value === "string" || (typeof value === "number" && Number.isSafeInteger(value));
}
