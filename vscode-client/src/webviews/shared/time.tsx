import type { VNode } from "preact";
import { ago } from "./format.ts";
import { localTime } from "./local-time.ts";

interface TimeProps {
  readonly iso: string;
  /** If given, the text says how long ago; otherwise it is the time in the local zone. */
  readonly nowMs?: number;
  readonly class?: string;
  /** The part of the time that is left out: "date" if the day is known, "seconds" if hours and minutes are enough. */
  readonly without?: "date" | "seconds";
}

/** The bounds of the slice of `localTime`'s text that is shown. */
const parts = { date: [11], seconds: [11, 16] } as const;

/** A time, shown in full in its tooltip. */
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
