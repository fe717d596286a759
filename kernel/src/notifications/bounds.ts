/** How much is kept of what agents say to a person, and how fast they may say it. */
export const notificationBounds = {
  /** Notifications that are kept; seen ones are dropped first, then the oldest. */
  perAgent: 50,
  together: 200,
  keptMs: 30 * 24 * 60 * 60 * 1000,
  titleCharacters: 200,
  messageCharacters: 4_000,
  /** Characters of JSON. A larger proposal is not kept, so it cannot be made again once its action has expired. */
  proposalCharacters: 64 * 1024,
  agentBurst: 10,
  agentEveryMs: 6_000,
  togetherBurst: 40,
  togetherEveryMs: 1_000,
  /** How long clients wait for the number of those that were held back. */
  summaryAfterMs: 30_000,
} as const;
