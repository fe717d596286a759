/** What one guest's connection may take at most. */
export const abiBounds = {
  /** Bytes of one message, in both directions. */
  maxLineBytes: 1024 * 1024,
  /** How deep arrays and objects of a guest's message may nest; what clients are told of it nests a few levels more. */
  maxDepth: 64,
  /** Calls that are open at once, in each direction. */
  maxOpenCalls: 64,
  /** Requests to the guest that wait for one of the open ones to be answered. */
  maxWaitingRequests: 1024,
  /** Messages that break the ABI; with the next one the guest is ended. */
  maxFaults: 8,
  /** Characters of a faulty message that are shown. */
  maxShownCharacters: 120,
  /** Characters of an error's message that are kept. */
  maxErrorCharacters: 8192,
  /** Characters of a call's id. */
  maxIdCharacters: 128,
  /** Messages in a second that are dropped or answer nothing; with more the guest is ended. */
  maxWastedPerSecond: 20_000,
  /** Calls in a second that are refused unread. Fewer: each is answered, and no call is refused of a guest that waits its turn. */
  maxRefusedCallsPerSecond: 2_000,
  /** Characters of these and of all notifications. */
  maxWastedCharactersPerSecond: 32 * 1024 * 1024,
  maxTracesPerSecond: 200,
  maxNotifiesPerSecond: 5,
  /** How long a guest that does not compute may take to answer `ping`. */
  pingTimeoutMs: 2_000,
  /** CPU time within that time that is no computing: what reading the ping alone takes. */
  idleCpuMs: 20,
  /** How long a tool may take while its agent neither computes nor has a call open; then its caller is told. */
  maxIdleToolMs: 60_000,
  /** From the answer to `shutdown` to the end of the guest. */
  shutdownGraceMs: 2_000,
  /** Part of the time that a guest may compute while nothing was asked of it; for a tool, more than that is work. */
  backgroundShare: 0.1,
} as const;
