import type { EgressFailure, EgressHead, HostRequest } from "../messages.ts";

export interface EgressRequest extends HostRequest {
  /** For whom it is made, as the trace names it. */
  readonly who: string;
  readonly body?: Uint8Array;
  readonly signal?: AbortSignal;
}

export interface EgressAnswer extends EgressHead {
  /**
   * To be read once. Throws `EgressError` if the answer breaks off. Leaving the loop early closes the connection. An answer
   * that is not read ends with the request's timeout.
   */
  readonly body: AsyncGenerator<Uint8Array, { readonly isTruncated: boolean }>;
}

/** The trace of a request for the person: one for each, when it has ended. */
export interface EgressTrace {
  readonly who: string;
  readonly method: string;
  readonly host: string;
  /** Without the query. */
  readonly path: string;
  readonly redirects: EgressHead["redirects"];
  readonly viaProxy: boolean;
  /** Secrets whose placeholders it had only where their values are not inserted. */
  readonly unfilled: readonly string[];
  readonly sentBytes: number;
  readonly receivedBytes: number;
  /** Null if there was no answer. */
  readonly status: number | null;
  readonly durationMs: number;
  readonly failure: EgressFailure | null;
}

export class EgressError extends Error {
  readonly failure: EgressFailure;

  constructor(failure: EgressFailure) {
    super(sentenceOf(failure));
    this.failure = failure;
  }
}

function sentenceOf(failure: EgressFailure): string {
  switch (failure.class) {
    case "Denied":
      return failure.reason;
    case "Leak":
      return `The request to ${failure.host} holds what looks like a secret (${failure.rule}) in its ${failure.where}, so nothing was sent. Use ctx.credentials for what a host needs to know.`;
    case "Network":
    case "Timeout":
    case "Cancelled":
      return failure.message;
  }
}
