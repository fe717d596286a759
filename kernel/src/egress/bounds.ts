/** The limits of the kernel and its egress host, and how long they wait. */
export const egressBounds = {
  /** Requests at the host at once; one more is refused (Busy). */
  maxOpenRequests: 512,
  /** Bytes of a request's body. */
  maxRequestBytes: 32 * 1024 * 1024,
  /** Bytes of the bodies of one asker's open requests: each is held on both sides until its request has ended. */
  maxOpenBytesPerAsker: 64 * 1024 * 1024,
  /** A longer frame ends the host: a request with its headers. */
  maxFrameBytes: 33 * 1024 * 1024,
  /** Bytes of an answer that are on their way to the kernel and not yet consumed. */
  windowBytes: 256 * 1024,
  /** Bytes of an answer's status line and headers. */
  maxHeadBytes: 64 * 1024,
  maxRedirects: 5,
  connectTimeoutMs: 10_000,
  /**
   * Names that are looked up at once, of agents and in all: each holds a thread until a server answers, which whoever owns
   * the name can put off.
   */
  maxAgentLookups: 8,
  maxLookups: 16,
  /** Hosts to which connections are kept open, and how long an unused one is. */
  maxPools: 64,
  keepAliveMs: 30_000,
  maxConnectionsPerHost: 256,
  /** A host that has not ended a request this long after the request's timeout is killed. */
  graceMs: 2000,
  /** The delay before a host that died is restarted; it doubles from the first value to the last. */
  firstRestartDelayMs: 50,
  maxRestartDelayMs: 1000,
  stableAfterMs: 10_000,
} as const;
