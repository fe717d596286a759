import type { Emitter } from "../base/emitter.ts";
import { endedStates, type Process } from "../base/vocabulary/conversation.ts";
import type { ConversationLog } from "../conversations/conversation-log.ts";
import { Unattended } from "./interruptions.ts";

interface Watched {
  readonly log: Pick<ConversationLog, "state" | "appended">;
  readonly isUnattended: boolean;
  /** `isUnattended` has become true. */
  readonly left: Emitter<void>;
}

/**
 * Resolves with a process once the log says that it has ended, however long it waits for the person meanwhile; null if there
 * is none. Rejects with the signal's reason, and with Unattended as soon as nobody is there.
 */
export async function untilEnded(
  { log, left, isUnattended }: Watched,
  id: string,
  signal: AbortSignal,
): Promise<Process | null> {
  const find = (): Process | undefined => log.state.processes.find((process) => process.id === id);
  const { promise, resolve, reject } = Promise.withResolvers<Process | null>();
  const look = (): void => {
    const process = find();
    if (process === undefined) resolve(null);
    else if (endedStates.has(process.state)) resolve(process);
  };
  const leave = (): void => reject(signal.reason as Error);
  using _appended = log.appended.on(look);
  using _left = left.on(() => reject(new Unattended("Nobody is there.")));
  signal.throwIfAborted();
  if (isUnattended) throw new Unattended("Nobody is there.");
  look();
  signal.addEventListener("abort", leave, { once: true });
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
