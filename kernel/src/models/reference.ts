/** Splits `provider/model`; the model's name may contain slashes. Returns null if a part is missing. */
export function parseModelReference(
  reference: string,
): { readonly provider: string; readonly model: string } | null {
  const slash = reference.indexOf("/");
  if (slash <= 0 || slash === reference.length - 1) return null;
  return { provider: reference.slice(0, slash), model: reference.slice(slash + 1) };
}
