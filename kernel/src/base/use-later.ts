/** What opens while other things do. It is closed with the rest, also where one of those fails before it is there. */
export function useLater<T extends AsyncDisposable>(
  opened: AsyncDisposableStack,
  opening: Promise<T>,
): Promise<T> {
  const settled = opening.catch(() => undefined);
  opened.defer(async () => (await settled)?.[Symbol.asyncDispose]());
  return opening;
}
