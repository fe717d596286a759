/** Arguments of calls that have been looked at: every request of a conversation has the same ones. */
const wellFormedArguments = new WeakSet();

/** Returns whether all texts of a JSON value are well-formed UTF-16. */
export function isWellFormed(value: unknown): boolean {
  const isObject = typeof value === "object" && value !== null;
  if (isObject && wellFormedArguments.has(value)) return true;
  const text = JSON.stringify(value);
  if (text !== undefined && /\\ud[89a-f]/i.test(text)) return false;
  if (isObject) wellFormedArguments.add(value);
  return true;
}

/** Returns a JSON value with U+FFFD in place of each unpaired surrogate. */
export function mendJson(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(mendJson);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.toWellFormed(), mendJson(item)] as const),
  );
}
