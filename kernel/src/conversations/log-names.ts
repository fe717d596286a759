const conversationId = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** True for the id of a conversation; a mind's own log has another one, and is none. */
export function isConversationId(id: string): boolean {
  return conversationId.test(id);
}

/** A hyphen is read in one way only, as in `extensionIdPattern`: otherwise each one would double the time. */
const agentId = /^[a-z0-9]+[.-][a-z0-9-]+(?:\.[a-z0-9-]+)*$/;

/** True for the name of a mind's own log, which is its agent's. */
export function isMindLog(id: string): boolean {
  return agentId.test(id);
}

const prefix = "shared_";
const sharedLog = /^shared_[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Returns the name of the log with the texts that minds keep in a shared memory. No agent and no conversation has such a name. */
export function sharedLogOf(namespace: string): string {
  return `${prefix}${namespace}`;
}

/** True for the name of any log: no other becomes part of a path. */
export function isLogName(id: string): boolean {
  return isConversationId(id) || isMindLog(id) || sharedLog.test(id);
}
