/**
 * Takes away what opens connections without an import. Only the egress host sends anything to the outside, and it has
 * its connections from a package.
 */
export function removeNetworkGlobals(): void {
  for (const name of ["fetch", "WebSocket", "EventSource"]) Reflect.deleteProperty(globalThis, name);
}
