import type { HookDefinition } from "../ports.ts";

/** The key within one agent; also the source of the deliveries. */
export function keyOf({
  handler,
  expression,
  timezone,
}: {
  readonly handler: string;
  readonly expression: string;
  readonly timezone: string;
}): string {
  return `schedule ${JSON.stringify([handler, expression, timezone])}`;
}

/** Returns the key of a hook's schedule within its agent; null if it has none that runs. */
export function keyOfHook({ handler, schedule: expression, timing }: HookDefinition): string | null {
  if (expression === undefined || timing === undefined) return null;
  return keyOf({ handler, expression, timezone: timing.timezone });
}
