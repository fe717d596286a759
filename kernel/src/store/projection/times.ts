import { detectedLanguage } from "./stems.ts";
import type { TimeSpan } from "./port.ts";

/** Maximum characters of a question that are searched for times. */
const maxReadCharacters = 1_000;
const maxTimes = 4;
const dayMs = 24 * 60 * 60_000;

/**
 * Returns the times that a question names ("yesterday", "two weeks ago", "12 May 2023", "in June"), relative to now, in
 * the machine's time zone. The library is loaded with the first question.
 */
export async function timesIn(text: string, nowMs: number): Promise<TimeSpan[]> {
  const chrono = await import("chrono-node");
  const read = text.slice(0, maxReadCharacters);
  const { de, es, fr, it, nl, pt, ru, sv, uk, en } = chrono;
  const parsers: Readonly<Record<string, Pick<typeof en, "parse">>> = { de, es, fr, it, nl, pt, ru, sv, uk };
  const found = (parsers[detectedLanguage(read) ?? "en"] ?? en).parse(read, new Date(nowMs));
  return found.slice(0, maxTimes).flatMap(({ start, end }) => {
    const first = spanOf(start);
    const last = end ? spanOf(end) : first;
    return last.untilMs > first.fromMs ? [{ fromMs: first.fromMs, untilMs: last.untilMs }] : [];
  });
}

interface Said {
  get(component: "year" | "month" | "day"): number | null;
  isCertain(component: "year" | "month" | "day" | "weekday"): boolean;
}

/** Returns the whole day, month or year that was named. */
function spanOf(said: Said): TimeSpan {
  const [year, month, day] = [said.get("year") ?? 1970, (said.get("month") ?? 1) - 1, said.get("day") ?? 1];
  const begin = (...parts: [number, number, number]): number => new Date(...parts).getTime();
  const isDay = said.isCertain("day") || said.isCertain("weekday") || !said.isCertain("year");
  if (said.isCertain("month") && !said.isCertain("day")) {
    return { fromMs: begin(year, month, 1), untilMs: begin(year, month + 1, 1) };
  }
  if (isDay) return { fromMs: begin(year, month, day), untilMs: begin(year, month, day) + dayMs };
  return { fromMs: begin(year, 0, 1), untilMs: begin(year + 1, 0, 1) };
}
