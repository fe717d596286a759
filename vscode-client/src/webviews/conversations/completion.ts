/** The composer's completions: a file after `@`, or a command after `/` at the beginning. Pure. */

interface Token {
  readonly kind: "file" | "command";
  /** The text after the sign. */
  readonly text: string;
  /** Where the sign is. */
  readonly start: number;
  readonly end: number;
}

/** Returns what is being written before the cursor, if it is one of these. */
export function tokenAt(text: string, cursor: number): Token | undefined {
  const before = text.slice(0, cursor);
  const command = /^\/([\w-]*)$/.exec(before);
  if (command !== null) return { kind: "command", text: command[1] ?? "", start: 0, end: cursor };
  const file = /(?:^|\s)@([^\s@]{0,200})$/.exec(before);
  if (file === null) return undefined;
  const name = file[1] ?? "";
  return { kind: "file", text: name, start: cursor - name.length - 1, end: cursor };
}

/** Returns the text without the token. */
export function withoutToken(text: string, { start, end }: Token): string {
  const [before, after] = [text.slice(0, start), text.slice(end)];
  return before.endsWith(" ") && after.startsWith(" ") ? before + after.slice(1) : before + after;
}

/** Returns the command and its text where a draft begins with one that exists. */
export function commandIn(
  draft: string,
  known: readonly { readonly name: string }[],
): { readonly name: string; readonly text: string } | undefined {
  const match = /^\/([\w-]+)(?:\s([\s\S]*))?$/.exec(draft);
  const name = match?.[1];
  if (name === undefined || !known.some((command) => command.name === name)) return undefined;
  return { name, text: (match?.[2] ?? "").trim() };
}

/** Returns the row of a menu after a move; wraps around at the ends. */
export function moved(at: number, by: number, size: number): number {
  return size === 0 ? 0 : (at + by + size) % size;
}

/** Returns the paths that fit a text, those whose name begins with it first. */
export function fitting(paths: readonly string[], text: string): string[] {
  const sought = text.toLowerCase();
  const rank = (path: string): number => {
    const lower = path.toLowerCase();
    const name = lower.slice(lower.lastIndexOf("/") + 1);
    if (name.startsWith(sought) || lower.startsWith(sought)) return 0;
    return name.includes(sought) ? 1 : lower.includes(sought) ? 2 : 3;
  };
  return paths
    .map((path) => ({ path, at: rank(path) }))
    .filter(({ at }) => at < 3)
    .toSorted((one, other) => one.at - other.at)
    .map(({ path }) => path);
}
