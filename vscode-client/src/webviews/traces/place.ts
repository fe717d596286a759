/** Returns an entry's fields as a value, or undefined if they were cut, which makes the JSON invalid. */
export function parseFields(json: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(json) as unknown };
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** A line of a program that an entry names. */
interface Place {
  readonly path: string;
  readonly line: number;
}

/** Returns the line of the program where a handler failed, if the entry names it. */
export function placeIn(json: string | undefined): Place | undefined {
  const value = json === undefined ? undefined : parseFields(json)?.value;
  const { place } = (value ?? {}) as { readonly place?: unknown };
  const { path, line } = (typeof place === "object" && place !== null ? place : {}) as Partial<Place>;
  if (typeof path !== "string" || path === "" || path.length > 4_096) return undefined;
  return Number.isSafeInteger(line) && Number(line) >= 1 ? { path, line: Number(line) } : undefined;
}

/** Returns a place as a link shows it: "agent.ts:12". */
export function placeWords({ path, line }: Place): string {
  return `${path.split(/[/\\]/).at(-1) ?? path}:${line}`;
}
