import { compileSchedule } from "../../../events/cron.ts";
import { scheduleInWords } from "../../../events/cron-words.ts";
import { filterMembers, filterWords } from "../../../events/reference.ts";
import { eventTypes, isCustomEvent } from "../../../events/types.ts";
import type { LanguageEnvironment } from "../complete.ts";
import type { EventLanguage, ExtensionSummary, Surroundings } from "../ports.ts";

/** The real event language, at a fixed time. */
export const events: EventLanguage = {
  eventTypes,
  isCustomEvent,
  filterWords,
  filterMembers,
  scheduleInWords,
  nextRuns: (expression, timezone, nowMs, count) => {
    const schedule = compileSchedule(expression, timezone, nowMs);
    return schedule.ok ? schedule.nextRuns(nowMs, count) : [];
  },
  now: () => Date.parse("2026-11-20T12:00:00Z"),
};

export const photos: ExtensionSummary = {
  id: "com.example.photos",
  name: "Photos",
  version: "1.2.0",
  description: "Finds [faces](command:evil) and **places**",
  tools: ["search_person"],
  permissions: ["read_entries", "write_tags"],
  events: ["PersonIdentified"],
};

/** A workspace with a few folders and one extension at `extensions/photos`. */
export const surroundings: Surroundings = {
  extensions: () => [photos],
  extension: ({ id, path }) =>
    id === photos.id || path?.endsWith("extensions/photos") === true ? photos : null,
  foldersIn: (place, path) => {
    if (place === "document") return path === "../extensions/" ? ["photos", "other"] : ["src"];
    return path === "." ? ["archive", "photos", "two words"] : path === "photos/" ? ["2024"] : [];
  },
  programs: () => ["agent.ts"],
  programExports: () => ({ handlers: ["photoAdded", "maintenance"], tools: ["searchPerson"] }),
};

export function environment(more: Partial<LanguageEnvironment> = {}): LanguageEnvironment {
  return { events, around: surroundings, client: { snippets: false }, ...more };
}
