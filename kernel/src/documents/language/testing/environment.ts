import { eventLanguage } from "../../../events/language.ts";
import type { LanguageEnvironment } from "../complete.ts";
import type { EventLanguage, ExtensionSummary, Surroundings } from "../ports.ts";

/** The real language of events, at a fixed time. */
export const events: EventLanguage = eventLanguage(() => Date.parse("2026-11-20T12:00:00Z"));

export const photos: ExtensionSummary = {
  id: "com.example.photos",
  name: "Photos",
  version: "1.2.0",
  description: "Finds [faces](command:evil) and **places**",
  tools: ["search_person"],
  permissions: ["read_entries", "write_tags"],
  types: ["Person"],
  events: ["PersonIdentified"],
};

/** A workspace with a few folders, and one extension beneath `extensions/photos`. */
export const surroundings: Surroundings = {
  extensions: () => [photos],
  extension: ({ id, path }) =>
    id === photos.id || path?.endsWith("extensions/photos") === true ? photos : null,
  foldersIn: (place, path) => {
    if (place === "document") return path === "../extensions/" ? ["photos", "other"] : ["src"];
    return path === "." ? ["archive", "photos", "two words"] : path === "photos/" ? ["2024"] : [];
  },
  programs: () => ["agent.ts"],
  programExports: () => ({
    handlers: ["photoAdded", "maintenance"],
    tools: ["searchPerson"],
    actions: ["createAlbum"],
  }),
};

export function environment(more: Partial<LanguageEnvironment> = {}): LanguageEnvironment {
  return { events, around: surroundings, client: { snippets: false }, ...more };
}
