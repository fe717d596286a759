import { isLaresError } from "../base/errors.ts";
import type { Verification } from "../journal/verify.ts";
import { ConversationLog } from "./conversation-log.ts";
import { type LogOptions, verifyClosed } from "./log-journal.ts";
import type { OpenLogs } from "./open-logs.ts";

/** Proves one log from its first record, whether or not it can be opened. Rejects with the signal's reason once it is aborted. */
export async function verifyLog(
  logs: OpenLogs,
  id: string,
  options: LogOptions,
  signal: AbortSignal | undefined,
): Promise<Verification> {
  try {
    using opened = await logs.use(id, () => ConversationLog.open(options));
    if (!opened.log.isBroken) return await opened.log.verify(signal);
  } catch (error) {
    // One that cannot be opened is read as it is.
    if (!isLaresError(error, "StorageError")) throw error;
  }
  return await verifyClosed(options, signal);
}
