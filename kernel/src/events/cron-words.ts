import { maxCronLength } from "./cron.ts";

/**
 * Describes a cron expression in English with 24 hours, such as "Every day at 03:00"; null if it is invalid. The
 * library for this is loaded on first use.
 */
export async function scheduleInWords(expression: string): Promise<string | null> {
  if (expression.length > maxCronLength) return null;
  const { default: cronstrue } = await import("cronstrue");
  try {
    const words = cronstrue.toString(expression.trim(), { use24HourTimeFormat: true });
    return words.replace(/^At (\d\d:\d\d(?::\d\d)?)$/, "Every day at $1");
  } catch (error) {
    // The library throws strings. `compileSchedule` reports what is wrong with the expression.
    if (typeof error === "string") return null;
    throw error;
  }
}
