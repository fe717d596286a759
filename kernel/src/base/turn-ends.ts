/** Texts that mark the place where a turn ended without an answer. */

export const stoppedHere = "Stopped here.";

/** The model came to its end, and wrote nothing but what it thought, or not even that. */
export const silentHere = "The model ended without an answer.";

/** Follows the reason for a failure. Stays true after that, as the log keeps every message and every request has them all. */
export const keptForRetry =
  'What you wrote is kept: the model reads it with your next message, such as "try again".';

/** Follows an answer that was cut off. */
export const unfinished = "It ends here, unfinished.";

/** Says when the model reads the messages that were waiting when a turn ended; empty without any. Stays true after that. */
export function leftUnread(count: number): string {
  if (count === 0) return "";
  const which = count === 1 ? "the message" : `the ${count} messages`;
  return `The model reads ${which} above with your next one.`;
}
