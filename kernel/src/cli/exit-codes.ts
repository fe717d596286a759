/** The exit codes of the commands. */
export const exitCodes = { ok: 0, failed: 1, usage: 2, waiting: 3, incomplete: 4, cut: 5 } as const;
