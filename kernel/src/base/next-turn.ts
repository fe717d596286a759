/** Resolves in a later turn of the loop, after what waits there has had its turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
