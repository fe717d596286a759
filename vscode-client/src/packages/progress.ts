import { CancellationError, ProgressLocation, window } from "vscode";

/** Shows what a command of `lares` is doing. Rejects with `CancellationError` if the person cancels it. */
export async function withProgress<Result>(
  title: string,
  act: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const abort = new AbortController();
  return window.withProgress(
    { location: ProgressLocation.Notification, title, cancellable: true },
    async (_progress, token) => {
      const listener = token.onCancellationRequested(() => abort.abort());
      try {
        return await act(abort.signal);
      } catch (error) {
        if (abort.signal.aborted) throw new CancellationError();
        throw error;
      } finally {
        listener.dispose();
      }
    },
  );
}
