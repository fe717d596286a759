/**
 * Runs `work` and returns its result, with the number of turns that other callbacks of the event loop had meanwhile.
 * `onTurn` is called in each of them.
 */
export async function countTurns<Result>(
  work: () => Promise<Result>,
  onTurn: () => void = () => undefined,
): Promise<{ readonly result: Result; readonly turns: number }> {
  let turns = 0;
  let isOver = false;
  const turn = (): void => {
    if (isOver) return;
    turns++;
    onTurn();
    setImmediate(turn);
  };
  setImmediate(turn);
  try {
    return { result: await work(), turns };
  } finally {
    isOver = true;
  }
}
