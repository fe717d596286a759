/**
 * How many changes were noticed, and how many of them a job has begun to look at. A job looks at everything that has
 * changed, so one that has not begun is enough for all changes that come meanwhile.
 */
export interface Waiting {
  readonly noticed: number;
  readonly begun: number;
}

export const nothingNoticed: Waiting = { noticed: 0, begun: 0 };

/** Counts a change. */
export function noticed<State extends Waiting>(state: State): State {
  return { ...state, noticed: state.noticed + 1 };
}

/** Counts all changes so far as looked at: the job that says so begins now. */
export function begun<State extends Waiting>(state: State): State {
  return { ...state, begun: state.noticed };
}

/**
 * The key of the job that will look at what was noticed. It stays the same until that job begins, so that changes share one;
 * a change that comes after that has a job of its own, however late the first one looks for the last time.
 */
export function keyOf({ begun }: Waiting): string {
  return `metadata ${begun}`;
}

/**
 * How a job for quiet moments is dispatched: one of each name for all photos of an import. Nothing is missed, because such a job
 * looks at everything, and is dispatched by other jobs or before any runs: an agent's jobs run one after the other, so it does not
 * end while it is dispatched.
 */
export const quiet = (name: string) => ({ key: name, priority: "low", whenIdle: true }) as const;
