import { dirname, join, resolve } from "node:path";
import type { Clock } from "../base/clock.ts";
import { Lines, type Position, type Range } from "../documents/diagnostics.ts";
import { complete, type EditedDocument } from "../documents/language/complete.ts";
import { hoverAt } from "../documents/language/hover.ts";
import { inlayHints } from "../documents/language/inlay-hints.ts";
import type { EventLanguage, ExtensionSummary, Surroundings } from "../documents/language/ports.ts";
import { documentKind } from "../documents/names.ts";
import { formatOf } from "../documents/parse.ts";
import type { ProgramExports } from "../documents/ports.ts";
import { defaultPrograms } from "../documents/resolved-manifest.ts";
import { compileSchedule } from "../events/cron.ts";
import { scheduleInWords } from "../events/cron-words.ts";
import { filterMembers, filterWords } from "../events/reference.ts";
import { eventTypes, isCustomEvent } from "../events/types.ts";
import type { AuthoringService, OpenText } from "../server/language/authoring.ts";
import type { OpenTexts } from "../server/language/ports.ts";
import type { Catalog } from "./catalog.ts";
import { leadsToAnotherMachine, type ExtensionFinder, type ExtensionOnDisk } from "./find-extensions.ts";
import { fileExists, listFolders } from "./read-documents.ts";
import { workspaceFolders } from "./workspace-folders.ts";
import { pathOf } from "./workspace-paths.ts";

export interface AuthoringOptions {
  readonly catalog: Catalog;
  readonly clock: Clock;
  /** Absolute, links resolved. Locations are folders of the first. */
  readonly roots: readonly string[];
  /** What the program of the manifest with this path and text has; null where that cannot be told. */
  readonly programExports: (
    manifestFile: string,
    text: string,
    open: OpenTexts,
  ) => Promise<ProgramExports | null>;
}

/** What was found around documents is asked again by each key that is pressed; for so long it is believed. */
const believedMs = 2_000;

/** Help for whoever writes a document: the pure language of `documents/`, with what lies around on this machine. */
export function createAuthoring(options: AuthoringOptions): AuthoringService {
  const events = eventLanguage(options.clock);
  const finders = new FinderCache(options.catalog, options.clock);
  const edited = ({ uri, text }: OpenText): { file: string | null; document: EditedDocument } | null => {
    const kind = documentKind(uri);
    const format = formatOf(uri);
    if (kind === undefined || format === undefined) return null;
    return { file: pathOf(uri), document: { kind, format, text } };
  };
  return {
    complete: async (document, position, client, open) => {
      const found = edited(document);
      if (found === null) return null;
      const lines = new Lines(document.text);
      const exports = async () =>
        found.file === null ? null : options.programExports(found.file, document.text, open);
      const around = surroundings(found.file, finders.finder(), options, exports);
      const answer = await complete(found.document, lines.offset(position), { events, around, client });
      return {
        ...answer,
        items: answer.items.map((each) => ({ ...each, range: lines.range(each.start, each.end) })),
      };
    },
    hover: async (open, position) => {
      const found = edited(open);
      if (found === null) return null;
      const lines = new Lines(open.text);
      const around = surroundings(found.file, finders.finder(), options, async () => null);
      const answer = await hoverAt(found.document, lines.offset(position), { events, around });
      return answer && { range: lines.range(answer.start, answer.end), explanation: answer.explanation };
    },
    inlayHints: async (open, range) => {
      const found = edited(open);
      if (found === null) return [];
      const lines = new Lines(open.text);
      const hints = await inlayHints(found.document, offsetsOf(range, lines), events);
      return hints.map(({ offset, ...hint }) => ({ ...hint, position: lines.position(offset) }));
    },
  };
}

function offsetsOf({ start, end }: { start: Position; end: Position } | Range, lines: Lines) {
  return { start: lines.offset(start), end: lines.offset(end) };
}

/** The language of hooks, for whoever writes them. */
export function eventLanguage(clock: Clock): EventLanguage {
  return {
    eventTypes,
    isCustomEvent,
    filterWords,
    filterMembers,
    scheduleInWords,
    nextRuns: (expression, timezone, nowMs, count) => {
      const schedule = compileSchedule(expression, timezone, nowMs);
      return schedule.ok ? schedule.nextRuns(nowMs, count) : [];
    },
    now: () => clock.now(),
  };
}

/** A finder reads each folder once; a new one is made when the last has served for a while. */
class FinderCache {
  readonly #catalog: Catalog;
  readonly #clock: Clock;
  #finder: ExtensionFinder | null = null;
  #madeAt = 0;

  constructor(catalog: Catalog, clock: Clock) {
    this.#catalog = catalog;
    this.#clock = clock;
  }

  finder(): ExtensionFinder {
    const now = this.#clock.monotonic();
    if (this.#finder === null || now - this.#madeAt > believedMs) {
      this.#finder = this.#catalog.finder();
      this.#madeAt = now;
    }
    return this.#finder;
  }
}

function surroundings(
  /** Null for a document that is no file here: nothing lies around it. */
  file: string | null,
  finder: ExtensionFinder,
  { roots }: AuthoringOptions,
  programExports: Surroundings["programExports"],
): Surroundings {
  const folder = file === null ? null : dirname(file);
  return {
    extensions: async () => (await finder.all()).flatMap(summaryOf),
    extension: async ({ path, id }) => {
      if (path !== undefined && file === null) return null;
      const found =
        path === undefined || file === null ? await finder.byId(id ?? "") : await finder.byPath(path, file);
      return (found === null ? [] : summaryOf(found))[0] ?? null;
    },
    foldersIn: async (place, path) => {
      if (place === "document")
        return folder === null || leadsToAnotherMachine(path) ? [] : listFolders(resolve(folder, path));
      return workspaceFolders(roots).list(path);
    },
    programs: async () => {
      if (folder === null) return [];
      const names = await Promise.all(
        defaultPrograms.map(async (name) => ((await fileExists(join(folder, name))) ? [name] : [])),
      );
      return names.flat();
    },
    programExports,
  };
}

function summaryOf({ checked }: ExtensionOnDisk): ExtensionSummary[] {
  const manifest = checked.value;
  if (manifest === null) return [];
  const { id, name, version, description, tools, permissions } = manifest;
  return [
    {
      id,
      name,
      version,
      description,
      tools: tools.map((tool) => tool.name),
      permissions: Object.keys(permissions),
      events: permissions.emit_events ?? [],
    },
  ];
}
