import { maxCronLength } from "./cron.ts";

/**
 * A cron expression in words, such as "Every day at 03:00"; null where it is none. English, 24 hours. The library that
 * says them is loaded when it is first asked.
 */
export async function scheduleInWords(expression: string): Promise<string | null> {
  if (expression.length > maxCronLength) return null;
  const { default: cronstrue } = await import("cronstrue");
  try {
    const words = cronstrue.toString(expression.trim(), { use24HourTimeFormat: true });
    return words.replace(/^At (\d\d:\d\d(?::\d\d)?)$/, "Every day at $1");
  } catch (error) {
    // It throws strings. What is wrong with the expression, `compileSchedule` says.
    if (typeof error === "string") return null;
    throw error;
  }
}
