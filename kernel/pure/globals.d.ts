/**
 * What rooms without effects may take from their host: globals that Node, browsers and other runtimes share
 * (https://min-common-api.proposal.wintertc.org), and turns of the event loop. Everything else is handed in.
 */
declare class TextEncoder {
  encode(text?: string): Uint8Array<ArrayBuffer>;
  encodeInto(text: string, target: Uint8Array): { read: number; written: number };
}

declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  decode(bytes?: ArrayBufferView | ArrayBuffer, options?: { stream?: boolean }): string;
}

interface AbortSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
  throwIfAborted(): void;
}

declare class AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}

declare const crypto: {
  getRandomValues<Bytes extends ArrayBufferView>(bytes: Bytes): Bytes;
  randomUUID(): `${string}-${string}-${string}-${string}-${string}`;
};
declare const performance: { now(): number };

declare function structuredClone<Value>(value: Value): Value;
declare function queueMicrotask(task: () => void): void;
declare function setImmediate(task: () => void): unknown;
declare function setTimeout(task: () => void, afterMs: number): { unref(): unknown };

/** A pure function; the renderers need it. */
declare module "node:util" {
  export function stripVTControlCharacters(text: string): string;
}

declare class URL {
  constructor(url: string);
  static canParse(url: string): boolean;
  readonly protocol: string;
  readonly username: string;
  readonly password: string;
  /** The hostname, with the port unless it is the scheme's own. */
  readonly host: string;
  /** In lower case and punycode; IPv6 in brackets, IPv4 in four decimal numbers. */
  readonly hostname: string;
  readonly port: string;
  readonly pathname: string;
  readonly search: string;
  readonly hash: string;
}
