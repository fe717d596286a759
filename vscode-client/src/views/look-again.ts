import { Disposable, type Event } from "vscode";

/** The minimum time between two change notifications to a visible view. */
export const minChangeMs = 1_000;
/**
 * Figures such as a memory's size change without a notification from the kernel, so a visible view refreshes at this
 * interval.
 */
export const lookAgainMs = 5_000;

/** Calls `look` soon after any of the events, and every `lookAgainMs`, but never twice within `minChangeMs`. */
export function lookAgain(events: readonly Event<unknown>[], look: () => void): Disposable {
  let timer: NodeJS.Timeout | undefined;
  const soon = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined;
      look();
    }, minChangeMs);
  };
  const every = setInterval(soon, lookAgainMs);
  return Disposable.from(...events.map((event) => event(soon)), {
    dispose: () => {
      clearInterval(every);
      clearTimeout(timer);
    },
  });
}
