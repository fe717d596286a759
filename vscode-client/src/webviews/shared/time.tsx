import type { VNode } from "preact";
import { ago } from "./format.ts";
import { localTime } from "./local-time.ts";

interface TimeProps {
  readonly iso: string;
  /** With it, how long ago; without it, the time in the person's own zone. */
  readonly nowMs?: number;
  readonly class?: string;
  /** What is left out of the time: "date" where the day is known, "seconds" where minutes are enough as well. */
  readonly without?: "date" | "seconds";
}

/** Of `localTime`'s text. */
const parts = { date: [11], seconds: [11, 16] } as const;

/** A time, with all of it in its tooltip. */
export function Time({ iso, nowMs, class: className = "quiet", without }: TimeProps): VNode {
  const local = localTime(iso);
  const atMs = Date.parse(iso);
  const utc = Number.isNaN(atMs) ? undefined : new Date(atMs).toISOString();
  const shown = utc === undefined || without === undefined ? local : local.slice(...parts[without]);
  return (
    <time class={className} dateTime={utc} title={utc === undefined ? local : `${local} (${utc})`}>
      {nowMs === undefined ? shown : ago(iso, nowMs)}
    </time>
  );
}
