/** Opens a resource in the background. It is closed with the others, even if one of them fails before it is open. */
export function useLater<T extends AsyncDisposable>(
  opened: AsyncDisposableStack,
  opening: Promise<T>,
): Promise<T> {
  const settled = opening.catch(() => undefined);
  opened.defer(async () => (await settled)?.[Symbol.asyncDispose]());
  return opening;
}
