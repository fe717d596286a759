import { UsageError } from "./command.ts";

const unitsMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** "90s", "10m", "1h", "7d" in milliseconds. */
export function durationMs(text: string): number {
  const parsed = parsedMs(text);
  if (parsed === null) throw new UsageError(`"${text}" is no duration: write 90s, 10m or 1h.`);
  return parsed;
}

/** "90s", "10m", "1h", "7d" before now, or a time in ISO 8601; as a time in UTC. */
export function sinceTime(text: string, nowMs: number): string {
  const ago = parsedMs(text);
  if (ago !== null) return new Date(nowMs - ago).toISOString();
  const absolute = Date.parse(text);
  if (Number.isNaN(absolute))
    throw new UsageError(`"${text}" is no time: write 30m, 1h, 7d or 2026-11-20T10:00:00Z.`);
  return new Date(absolute).toISOString();
}

function parsedMs(text: string): number | null {
  const parsed = /^(\d{1,6})\s*([smhd])$/.exec(text.trim());
  const unit = unitsMs[parsed?.[2] ?? ""];
  return parsed !== null && unit !== undefined ? Number(parsed[1]) * unit : null;
}
