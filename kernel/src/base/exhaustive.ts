/** Ends a `switch` over a closed union: a missing case is a compile error. */
export function unreachable(value: never): never {
  throw new Error(`Unexpected value: ${JSON.stringify(value)}`);
}
