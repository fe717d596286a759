import { Disposable, type Event } from "vscode";

/** Between two times that a seen view is told to look again. */
export const minChangeMs = 1_000;
/** Figures move without a word of the kernel, such as a memory's size: a seen view looks again after so long. */
export const lookAgainMs = 5_000;

/** Looks again soon after any of the events, and every `lookAgainMs`: never twice within `minChangeMs`. */
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
