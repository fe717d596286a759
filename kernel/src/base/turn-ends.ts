/** What stands, for a person, where a turn ended without its answer. */

export const stoppedHere = "Stopped here.";

/** What stands behind an answer that was cut off. */
export const unfinished = "It ends here, unfinished.";

/** Returns what becomes of messages that no request has had when a turn ended; empty for none. It stays true once they were read. */
export function leftUnread(count: number): string {
  if (count === 0) return "";
  const which = count === 1 ? "the message" : `the ${count} messages`;
  return `The model reads ${which} above with your next one.`;
}
