/** Returns a web address as it is drawn and opened: whole, with its host in ASCII; undefined if it is none. */
export function addressOf(text: string): string | undefined {
  if (!/^https?:\/\//i.test(text) || text.length > 4_000) return undefined;
  try {
    const { href, username, password } = new URL(text);
    return username === "" && password === "" && href.length <= 4_096 ? href : undefined;
  } catch {
    return undefined;
  }
}
