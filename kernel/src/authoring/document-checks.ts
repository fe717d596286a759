import { basename, dirname, isWithin, join } from "../platform/files/paths.ts";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { diagnostic, Lines, type Diagnostic } from "../documents/text/diagnostics.ts";
import { plainMessage } from "../base/plain-text.ts";
import { isForeignManifest } from "../documents/foreign-manifest.ts";
import { checkManifest } from "../documents/manifest.ts";
import type { HandlerKind } from "../documents/language/program.ts";
import { documentKind, laresNames, manifestNames } from "../documents/names.ts";
import type { ProgramExports } from "../documents/ports.ts";
import type { DocumentFault, OpenTexts } from "../base/vocabulary/editing.ts";
import type { DocumentService } from "../services/editing.ts";
import type { WorkspaceDocuments } from "../configuration/workspace-documents.ts";
import { ObservedFiles } from "../configuration/observed-files.ts";
import { PathWatch, type ProbedPaths } from "../platform/files/path-watch.ts";
import type { ProgramOutlines } from "./program-outlines.ts";
import { pathOf } from "../platform/files/file-uris.ts";

/** Creates the diagnostics of open documents with the same checks that loading uses. */
export function createDocumentService(
  {
    documents,
    clock,
    log,
    roots,
  }: {
    readonly documents: WorkspaceDocuments;
    readonly clock: Clock;
    readonly log: Log;
    readonly roots: readonly string[];
  },
  programs: ProgramOutlines,
  /** Reads a file of the workspace by its absolute path; null if that is not possible. */
  readFile: (file: string) => Promise<Uint8Array | null>,
): DocumentService {
  // Any folder of the workspace may appear or disappear, including the document's own.
  const baseOf = (file: string): string => roots.find((root) => isWithin(root, file)) ?? dirname(file);
  return {
    handles: (uri) => documentKind(uri) !== undefined,
    diagnose: async (uri, text, open) => {
      const file = pathOf(uri) ?? uri;
      const asked = { file, text, open, leavesForeign: true };
      const { diagnostics, lookedAt } = await diagnosticsOf(documents, programs, asked);
      return { faults: diagnostics.map(faultOf), lookedAt };
    },
    follow: (uri, changed) => {
      const file = pathOf(uri);
      const watch = new PathWatch({ clock, log, bases: file === null ? [] : [baseOf(file)] });
      watch.changed.on(changed);
      return {
        watch: (lookedAt) => file !== null && watch.watch(lookedAt),
        heardOf: (other) => {
          const path = pathOf(other);
          if (path !== null) watch.heardOf(path);
        },
        [Symbol.dispose]: () => watch[Symbol.dispose](),
      };
    },
    textOnDisk: async (uri) => {
      try {
        const file = pathOf(uri);
        const bytes = file === null ? null : await readFile(file);
        return bytes === null ? null : new TextDecoder("utf-8", { fatal: true }).decode(bytes);
      } catch (error) {
        if (error instanceof TypeError) return null; // no UTF-8
        throw error;
      }
    },
  };
}

interface Asked {
  readonly file: string;
  readonly text: string;
  /** Reports nothing about another product's manifest: an editor shows many files that do not concern Lares. */
  readonly leavesForeign?: boolean;
}

/** Returns all errors in a document that can be found without a kernel. */
export async function diagnosticsOf(
  documents: WorkspaceDocuments,
  programs: ProgramOutlines,
  { open, ...asked }: Asked & { readonly open?: OpenTexts },
): Promise<{ readonly diagnostics: readonly Diagnostic[]; readonly lookedAt: ProbedPaths }> {
  const files = new ObservedFiles(open);
  return { diagnostics: await checkDocument(documents, programs, asked, files), lookedAt: files };
}

async function checkDocument(
  documents: WorkspaceDocuments,
  programs: ProgramOutlines,
  { file, text, leavesForeign = false }: Asked,
  files: ObservedFiles,
): Promise<readonly Diagnostic[]> {
  const shadowed = await checkShadowed(file, text, files);
  if (documentKind(file) === "lares") {
    const { diagnostics } = await documents.checkLares(text, file, await documents.layerOf(file), files);
    const counting = await documents.documentInsteadOf(file, files);
    const notCounting = counting === null ? [] : [notCounted(file, counting, text)];
    return [...notCounting, ...shadowed, ...diagnostics];
  }
  const ports = documents.manifestPorts(file, files);
  const checked = await checkManifest(text, file, {
    ...ports,
    programExports: (main) => programExports(programs, file, main, files),
    ...documents.declarations(file, files),
  });
  if (leavesForeign && isForeignManifest(checked.document.value)) return [];
  return [...shadowed, ...checked.diagnostics];
}

/** Warns about a document that is ignored because another name beside it takes precedence. */
async function checkShadowed(file: string, text: string, files: ObservedFiles): Promise<Diagnostic[]> {
  // An unsaved text may still be saved under another name.
  if (!(await files.fileExists(file))) return [];
  const names: readonly string[] = documentKind(file) === "lares" ? laresNames : manifestNames;
  for (const name of names.slice(0, Math.max(0, names.indexOf(basename(file))))) {
    if (!(await files.fileExists(join(dirname(file), name)))) continue;
    const message = `${name} beside this file is read instead of it; keep one of the two.`;
    const firstLine = new Lines(text).range(0, Math.max(0, text.search(/\r?\n|$/)));
    return [diagnostic("shadowed-document", firstLine, message)];
  }
  return [];
}

/** The document is still checked: the user may be about to move the one in use. */
function notCounted(file: string, counting: string, text: string): Diagnostic {
  const range = {
    start: { line: 0, character: 0 },
    end: { line: 0, character: /^.*/.exec(text)?.[0].length ?? 0 },
  };
  const message = `This document does not count: of a workspace's folders the first that has one does, which is "${dirname(counting)}". Extensions of all folders can be named there, and locations as in "${basename(dirname(file))}/notes".`;
  return diagnostic("document-not-counted", range, message);
}

/** Returns what the program certainly contains. Bundling finds out whether it can run. */
async function programExports(
  programs: ProgramOutlines,
  file: string,
  main: string,
  files: ObservedFiles,
): Promise<ProgramExports | null> {
  files.observe(join(dirname(file), main));
  const outline = await programs.outlineAt(file, main, files.open);
  if (outline === null) return null;
  const namesOf = (kind: HandlerKind) =>
    outline.isComplete[kind] ? outline.handlers[kind].map(({ name }) => name) : null;
  return { handlers: namesOf("hooks"), tools: namesOf("tools"), actions: namesOf("actions") };
}

export function faultOf({ range, severity, code, message }: Diagnostic): DocumentFault {
  // The text may quote an untrusted document, and an editor may run in a terminal.
  return { range, severity, code, message: plainMessage(message) };
}
