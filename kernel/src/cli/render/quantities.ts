const units = ["B", "KB", "MB", "GB", "TB"];

/** 1536 → "1.5 KB" */
export function bytes(count: number): string {
  let value = count;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  if (unit === 0) return `${count} B`;
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** 65000 → "1m 5s"; 1500 → "1.5 s"; 12 → "12 ms" */
export function duration(durationMs: number): string {
  if (durationMs < 1000) return `${Math.round(durationMs)} ms`;
  if (durationMs < 60_000) return `${(durationMs / 1000).toFixed(1)} s`;
  const minutes = Math.floor(durationMs / 60_000);
  const seconds = Math.round((durationMs % 60_000) / 1000);
  if (minutes < 60) return `${minutes}m ${seconds}s`;
  return `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}

/** "1 action", "2 actions" */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** Returns the local time of day: 14:03:59.120 */
export function clockTime(timestamp: string): string {
  const time = new Date(timestamp);
  if (Number.isNaN(time.getTime())) return "--:--:--.---";
  const two = (value: number): string => String(value).padStart(2, "0");
  const seconds = `${two(time.getSeconds())}.${String(time.getMilliseconds()).padStart(3, "0")}`;
  return `${two(time.getHours())}:${two(time.getMinutes())}:${seconds}`;
}

/** Returns the local day and time: 2026-11-21 14:03 */
export function dayAndTime(timestamp: string): string {
  const time = new Date(timestamp);
  if (Number.isNaN(time.getTime())) return timestamp;
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day} ${two(time.getHours())}:${two(time.getMinutes())}`;
}
