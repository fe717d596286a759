import { maxLineBytes, maxOpenCalls } from "../../guest/runtime/native.ts";

/** The limits of one guest's connection. */
export const abiBounds = {
  /** Bytes of one message, in both directions. */
  maxLineBytes,
  /** Nesting of arrays and objects in a guest's message; what clients receive of it is nested a few levels more. */
  maxDepth: 64,
  /** Concurrently open calls, in each direction. */
  maxOpenCalls,
  /** Requests to the guest that wait until an open one is answered. */
  maxWaitingRequests: 1024,
  /** Messages that violate the ABI; the next one terminates the guest. */
  maxFaults: 8,
  /** Characters of a faulty message that are shown. */
  maxShownCharacters: 120,
  /** Characters of an error's message that are kept. */
  maxErrorCharacters: 8192,
  /** Characters of a call's id. */
  maxIdCharacters: 128,
  /** Messages per second that are dropped or answer no request; more terminate the guest. */
  maxWastedPerSecond: 20_000,
  /**
   * Calls per second that are refused unread. This bound is lower because each refusal is an answer that the kernel
   * writes; a guest that respects the limit of open calls is never refused.
   */
  maxRefusedCallsPerSecond: 2_000,
  /** Characters per second of wasted messages and of all notifications. */
  maxWastedCharactersPerSecond: 32 * 1024 * 1024,
  maxTracesPerSecond: 200,
  maxNotifiesPerSecond: 5,
  /** How long an idle guest may take to answer `ping`. */
  pingTimeoutMs: 2_000,
  /** CPU time within `pingTimeoutMs` that still counts as idle; reading the ping itself takes some. */
  idleCpuMs: 20,
  /** How long a tool may take while its agent neither computes nor has a call open. Then its caller gets an error. */
  maxIdleToolMs: 60_000,
  /** The same limit for a tool whose call was cancelled. */
  cancelledToolMs: 5_000,
  /** Time from the answer to `shutdown` until the guest must have exited. */
  shutdownGraceMs: 2_000,
  /** The share of time that a guest may compute without an open request. A tool that computes more is working. */
  backgroundShare: 0.1,
} as const;
