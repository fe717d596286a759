import { dirname, join, resolve } from "../platform/files/paths.ts";
import type { Clock } from "../base/clock.ts";
import { Lines, type Position, type Range } from "../documents/text/diagnostics.ts";
import { complete, type EditedDocument } from "../documents/language/complete.ts";
import { hoverAt } from "../documents/language/hover.ts";
import { inlayHints } from "../documents/language/inlay-hints.ts";
import type { ExtensionSummary, Surroundings } from "../documents/language/ports.ts";
import { documentKind } from "../documents/names.ts";
import { formatOf } from "../documents/text/parse.ts";
import type { ProgramExports } from "../documents/ports.ts";
import { defaultPrograms } from "../documents/resolved-manifest.ts";
import { documentLimits } from "../documents/text/source.ts";
import { eventLanguage } from "../events/language.ts";
import type { EditedDocument as OpenDocument, OpenTexts } from "../base/vocabulary/editing.ts";
import type { AuthoringService } from "../services/editing.ts";
import type { WorkspaceDocuments } from "../configuration/workspace-documents.ts";
import {
  leadsToAnotherMachine,
  type ExtensionFinder,
  type ExtensionOnDisk,
} from "../configuration/find-extensions.ts";
import { fileExists, listFolders } from "../platform/files/document-files.ts";
import { workspaceFolders } from "../configuration/workspace-folders.ts";
import { pathOf } from "../platform/files/file-uris.ts";

interface AuthoringOptions {
  readonly documents: WorkspaceDocuments;
  readonly clock: Clock;
  /** Absolute, links resolved. Locations are folders of the first. */
  readonly roots: readonly string[];
  /** Returns the hooks and tools in the program of this manifest; null if that cannot be determined. */
  readonly programExports: (
    manifestFile: string,
    text: string,
    open: OpenTexts,
  ) => Promise<ProgramExports | null>;
}

/** How long a finder is reused: each keystroke asks for the document's surroundings again. */
const believedMs = 2_000;

/** Creates the editor services for documents: the pure functions of `documents/`, with data from disk. */
export function createAuthoring(options: AuthoringOptions): AuthoringService {
  const events = eventLanguage(() => options.clock.now());
  const finders = new FinderCache(options.documents, options.clock);
  const edited = ({ uri, text }: OpenDocument): { file: string | null; document: EditedDocument } | null => {
    const kind = documentKind(uri);
    const format = formatOf(uri);
    if (kind === undefined || format === undefined || text.length > documentLimits.characters) return null;
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

/** A finder reads each folder once, so it is replaced after `believedMs`. */
class FinderCache {
  readonly #documents: WorkspaceDocuments;
  readonly #clock: Clock;
  #finder: ExtensionFinder | null = null;
  #madeAt = 0;

  constructor(documents: WorkspaceDocuments, clock: Clock) {
    this.#documents = documents;
    this.#clock = clock;
  }

  finder(): ExtensionFinder {
    const now = this.#clock.monotonic();
    if (this.#finder === null || now - this.#madeAt > believedMs) {
      this.#finder = this.#documents.createFinder();
      this.#madeAt = now;
    }
    return this.#finder;
  }
}

function surroundings(
  /** Returns null for a document that is not a file on this machine and so has no surroundings. */
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
  const { id, name, version, description, tools, permissions, types = [], actions = [] } = manifest;
  return [
    {
      id,
      name,
      version,
      description,
      tools: [...tools, ...actions].map((tool) => tool.name),
      permissions: Object.keys(permissions),
      types: types.map((type) => type.name),
      events: permissions.emit_events ?? [],
    },
  ];
}
