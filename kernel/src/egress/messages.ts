import type { EgressRules } from "../policy/egress.ts";

export type Headers = readonly (readonly [name: string, value: string])[];

export interface EgressLimits {
  /** From the request to the end of its answer. */
  readonly timeoutMs: number;
  /** Without a byte of the answer; time during which the kernel takes none does not count. */
  readonly idleMs: number;
  /** Bytes of the answer's body after decompression; the rest is cut off. */
  readonly maxBytes: number;
}

/** What is asked of the host; the body travels behind it. */
export interface HostRequest {
  readonly method: string;
  readonly url: string;
  /** Headers of the connection itself (`host`, `connection`, `content-length` …) are not sent on. */
  readonly headers: Headers;
  readonly rules: EgressRules;
  readonly limits: EgressLimits;
}

export interface EgressHead {
  readonly status: number;
  /** Names in lower case. Without `content-length` and `content-encoding`: the body is decompressed. */
  readonly headers: Headers;
  /** Where redirects led to, without queries. */
  readonly redirects: readonly { readonly host: string; readonly path: string }[];
  readonly viaProxy: boolean;
}

/** Why there is no answer, or no whole one. `mayHaveLeft`: whether bytes of the request may have been sent. */
export type EgressFailure = { readonly host: string; readonly mayHaveLeft: boolean } & (
  | { readonly class: "Denied"; readonly reason: string }
  | { readonly class: "Network" | "Timeout" | "Cancelled"; readonly message: string }
);

export type ToHost =
  | { readonly kind: "request"; readonly id: number; readonly request: HostRequest }
  | { readonly kind: "cancel"; readonly id: number };

export type FromHost =
  | { readonly kind: "head"; readonly id: number; readonly head: EgressHead }
  | { readonly kind: "end"; readonly id: number; readonly isTruncated: boolean }
  | { readonly kind: "failed"; readonly id: number; readonly failure: EgressFailure };

/** Frames beside the words; their stream is the request's id. */
export const frameTypes = { chunk: 2, credit: 3 } as const;
