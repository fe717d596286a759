import { basename, dirname, join } from "node:path";
import type { Diagnostic as LspDiagnostic, DiagnosticSeverity } from "vscode-languageserver";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Severity } from "../documents/codes.ts";
import { diagnostic, Lines, type Diagnostic } from "../documents/diagnostics.ts";
import { plainMessage } from "../base/plain-text.ts";
import { isForeignManifest } from "../documents/foreign-manifest.ts";
import { checkManifest } from "../documents/manifest.ts";
import { documentKind, laresNames, manifestNames } from "../documents/names.ts";
import type { EventPorts, FilterCheck, ProgramExports } from "../documents/ports.ts";
import { compileSchedule } from "../events/cron.ts";
import { compileFilter } from "../events/filter.ts";
import { eventNames, isCustomEvent } from "../events/types.ts";
import type { OpenTexts } from "../server/language/ports.ts";
import type { DocumentService } from "../server/ports.ts";
import type { Catalog } from "./catalog.ts";
import { ObservedFiles, type Observed } from "./observed-files.ts";
import { isWithin, PathWatch } from "./path-watch.ts";
import type { ProgramOutlines } from "./program-outlines.ts";
import { pathOf } from "./workspace-paths.ts";

/** The language of hooks, for whoever checks documents. */
export function eventPorts(clock: Clock): EventPorts {
  return { eventNames, isCustomEvent, compileFilter: checkFilter, compileSchedule, nowMs: clock.now() };
}

/** Filters whose verdicts are kept: a document is checked at each keystroke, and most of its filters are as they were. */
const maxFilterVerdicts = 512;
/** Longer ones are no filters, and not kept. */
const maxKeptCharacters = 4096;
const filterVerdicts = new Map<string, FilterCheck>();

function checkFilter(source: string, eventName: string): FilterCheck {
  const key = `${eventName}\n${source}`;
  const known = filterVerdicts.get(key);
  if (known !== undefined) {
    // The ones used longest ago leave first.
    filterVerdicts.delete(key);
    filterVerdicts.set(key, known);
    return known;
  }
  const compiled = compileFilter(source, eventName);
  const verdict: FilterCheck = compiled.ok ? { ok: true } : compiled;
  if (key.length > maxKeptCharacters) return verdict;
  if (filterVerdicts.size >= maxFilterVerdicts)
    filterVerdicts.delete(filterVerdicts.keys().next().value ?? "");
  filterVerdicts.set(key, verdict);
  return verdict;
}

/** Diagnostics of open documents, found by the same checks as everywhere else. */
export function createDocumentService(
  {
    catalog,
    clock,
    log,
    roots,
  }: {
    readonly catalog: Catalog;
    readonly clock: Clock;
    readonly log: Log;
    readonly roots: readonly string[];
  },
  programs: ProgramOutlines,
  /** Reads a file of the workspace by its absolute path; null where that is not possible. */
  readFile: (file: string) => Promise<Uint8Array | null>,
): DocumentService {
  // Within the workspace any folder may come and go, the document's own too.
  const baseOf = (file: string): string => roots.find((root) => isWithin(root, file)) ?? dirname(file);
  return {
    handles: (uri) => documentKind(uri) !== undefined,
    diagnose: async (uri, text, open) => {
      const file = pathOf(uri) ?? uri;
      const asked = { file, text, open, leavesForeign: true };
      const { diagnostics, lookedAt } = await diagnosticsOf(catalog, programs, asked);
      return { diagnostics: diagnostics.map(lspDiagnostic), lookedAt };
    },
    follow: (uri, changed) => {
      const file = pathOf(uri);
      const watch = new PathWatch({ clock, log, bases: file === null ? [] : [baseOf(file)], changed });
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
  /** Says nothing of a manifest that is another product's: editors show many a file that nobody asked Lares about. */
  readonly leavesForeign?: boolean;
}

/** Everything that can be known of a document without running a kernel. */
export async function diagnosticsOf(
  catalog: Catalog,
  programs: ProgramOutlines,
  { open, ...asked }: Asked & { readonly open?: OpenTexts },
): Promise<{ readonly diagnostics: readonly Diagnostic[]; readonly lookedAt: Observed }> {
  const files = new ObservedFiles(open);
  return { diagnostics: await checkDocument(catalog, programs, asked, files), lookedAt: files };
}

async function checkDocument(
  catalog: Catalog,
  programs: ProgramOutlines,
  { file, text, leavesForeign = false }: Asked,
  files: ObservedFiles,
): Promise<readonly Diagnostic[]> {
  const shadowed = await checkShadowed(file, text, files);
  if (documentKind(file) === "lares") {
    const { diagnostics } = await catalog.checkLares(text, file, catalog.layerOf(file), files);
    const counting = await catalog.countsInsteadOf(file, files);
    const notCounting = counting === null ? [] : [notCounted(file, counting, text)];
    return [...notCounting, ...shadowed, ...diagnostics];
  }
  const ports = catalog.manifestPorts(file, files);
  const checked = await checkManifest(text, file, {
    ...ports,
    programExports: (main) => programExports(programs, file, main, files),
  });
  if (leavesForeign && isForeignManifest(checked.document.value)) return [];
  return [...shadowed, ...checked.diagnostics];
}

/** Of documents that lie beside each other, the first name's counts: who edits another one should know. */
async function checkShadowed(file: string, text: string, files: ObservedFiles): Promise<Diagnostic[]> {
  // What is only typed may yet become another file.
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

/** It is checked all the same: somebody may be about to move the one that counts. */
function notCounted(file: string, counting: string, text: string): Diagnostic {
  const range = {
    start: { line: 0, character: 0 },
    end: { line: 0, character: /^.*/.exec(text)?.[0].length ?? 0 },
  };
  const message = `This document does not count: of a workspace's folders the first that has one does, which is "${dirname(counting)}". Extensions of all folders can be named there, and locations as in "${basename(dirname(file))}/notes".`;
  return diagnostic("document-not-counted", range, message);
}

/** What the program is sure to have; whether it can be run is found out where it is bundled. */
async function programExports(
  programs: ProgramOutlines,
  file: string,
  main: string,
  files: ObservedFiles,
): Promise<ProgramExports | null> {
  files.observe(join(dirname(file), main));
  const outline = await programs.outlineAt(file, main, files.open);
  if (outline === null) return null;
  const namesOf = (kind: "hooks" | "tools") =>
    outline.isComplete[kind] ? outline.handlers[kind].map(({ name }) => name) : null;
  return { handlers: namesOf("hooks"), tools: namesOf("tools") };
}

const severities: Record<Severity, DiagnosticSeverity> = {
  error: 1,
  warning: 2,
  information: 3,
  hint: 4,
};

export function lspDiagnostic({ range, severity, code, message }: Diagnostic): LspDiagnostic {
  // Part of it may be a stranger's document, and an editor may live in a terminal.
  return { range, severity: severities[severity], code, source: "lares", message: plainMessage(message) };
}
