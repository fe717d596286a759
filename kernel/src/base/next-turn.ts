/** Resolves in a later turn of the loop, after what waits there has had its turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Runs each step in a turn of its own, so that what waits meanwhile is not held up, and returns their result. */
export async function finishedInTurns<Result>(steps: Iterator<void, Result>): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await nextTurn();
  }
}
