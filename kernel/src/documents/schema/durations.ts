/** The form of a duration in a document: a number and its unit, "500ms", "10s", "5m", "24h", "30d". */
export const durationPattern = "^[0-9]+(?:\\.[0-9]+)?(?:ms|s|m|h|d)$";

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Longest accepted duration: a hundred years. */
const maxDurationMs = 100 * 365 * 86_400_000;

type Duration = { readonly ok: true; readonly ms: number } | { readonly ok: false; readonly message: string };

/** Parses a duration into milliseconds. */
export function parseDuration(text: string): Duration {
  const match = /^([0-9]{1,15}(?:\.[0-9]{1,15})?)(ms|s|m|h|d)$/.exec(text);
  if (match === null) {
    return {
      ok: false,
      message: `"${text}" is not a duration. Write a number and a unit, such as 500ms, 10s, 5m, 24h or 30d.`,
    };
  }
  const ms = Math.round(Number(match[1]) * (unitsMs[match[2] ?? ""] ?? 0));
  return ms > maxDurationMs
    ? { ok: false, message: `"${text}" is longer than a hundred years.` }
    : { ok: true, ms };
}

/** Parses a duration that was already validated. */
export function durationMs(text: string): number {
  const duration = parseDuration(text);
  if (!duration.ok) throw new TypeError(duration.message);
  return duration.ms;
}
