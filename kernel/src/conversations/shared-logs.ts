const prefix = "shared_";
const sharedLog = /^shared_[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** Returns the name of the log with the texts that minds keep in a shared memory. No agent and no conversation has such a name. */
export function sharedLogOf(namespace: string): string {
  return `${prefix}${namespace}`;
}

export function isSharedLog(id: string): boolean {
  return sharedLog.test(id);
}
