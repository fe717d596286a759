/**
 * Returns TOML for a JSON object: inline throughout, so that every value has one place. Null cannot be represented and
 * is omitted.
 */
export function tomlOf(table: object): string {
  return Object.entries(table)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => `${quoted(key)} = ${inline(value)}\n`)
    .join("");
}

function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (typeof value === "object") {
    const pairs = Object.entries(value ?? {}).map(([key, item]) => `${quoted(key)} = ${inline(item)}`);
    return `{${pairs.join(", ")}}`;
  }
  if (typeof value === "number")
    return Number.isInteger(value) ? BigInt(value).toString() : value.toExponential();
  return typeof value === "string" ? quoted(value) : JSON.stringify(value);
}

function quoted(text: string): string {
  const escaped = Array.from(text.toWellFormed(), (character) =>
    /[\x20-\x7e]/.test(character) && !/["\\]/.test(character)
      ? character
      : `\\U${(character.codePointAt(0) ?? 0).toString(16).padStart(8, "0")}`,
  );
  return `"${escaped.join("")}"`;
}
