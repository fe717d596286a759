const days = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const dayMs = 24 * 60 * 60 * 1000;

/** Returns the start in UTC of the last day of this name ("Monday"), including today. The kernel parses other texts. */
export function sinceOf(text: string, now: Date): string {
  const day = days.indexOf(text.trim().toLowerCase());
  if (day === -1) return text;
  const today = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate());
  return new Date(today - ((now.getUTCDay() - day + 7) % 7) * dayMs).toISOString();
}

/** Returns the words of a path: "photos/2024/sea-and-dunes/sea-at-noon.jpg" is about sea and dunes, sea at noon. */
export function wordsOf(path: string): string {
  return path
    .replace(/\.[^./]+$/, "")
    .split("/")
    .map((part) => part.replace(/[-_.\s]+/g, " ").trim())
    .filter((part) => part !== "" && !/^(photos|inbox|imported|\d+)$/i.test(part))
    .join(", ");
}
