import type { HandlerKind } from "../documents/language/program.ts";
import type { Clock } from "../base/clock.ts";
import { isLaresError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { readForEditor } from "../documents/language/for-editors.ts";
import { valueAt } from "../documents/text/source.ts";
import type { WorkspaceFiles } from "../platform/files/workspace-files.ts";
import type { Services } from "../services/ports.ts";
import { createAuthoring } from "./authoring.ts";
import type { WorkspaceDocuments } from "../configuration/workspace-documents.ts";
import { createDocumentService } from "./document-checks.ts";
import { createNavigation } from "./navigation.ts";
import { ProgramOutlines, type SourceReader } from "./program-outlines.ts";

/** Maximum size of a file that is compared with an open document. */
const maxComparedBytes = 16 * 1024 * 1024;

/** Creates the services that help editors with documents and their programs. */
export function createEditorServices(from: {
  readonly documents: WorkspaceDocuments;
  readonly clock: Clock;
  readonly log: Log;
  readonly roots: readonly string[];
  readonly files: WorkspaceFiles;
  readonly sources: SourceReader;
  /** Returns the workspace's paths of an absolute path, as a client names it. */
  readonly clientPaths: (absolute: string) => Promise<readonly string[]>;
}): Pick<Services, "authoring" | "navigation" | "documents"> {
  const { documents, clock, log, roots, files, clientPaths, sources } = from;
  const outlines = new ProgramOutlines(sources);
  return {
    authoring: createAuthoring({
      documents,
      clock,
      roots,
      programExports: async (manifestFile, text, open) => {
        const main = valueAt((await readForEditor(text, manifestFile)).value, "/extension/main");
        const outline = await outlines.outlineAt(manifestFile, main, open);
        const names = (kind: HandlerKind) => outline?.handlers[kind].map(({ name }) => name) ?? [];
        return { handlers: names("hooks"), tools: names("tools"), actions: names("actions") };
      },
    }),
    navigation: createNavigation(documents, outlines),
    documents: createDocumentService({ documents, clock, log, roots }, outlines, async (file) => {
      const [path] = await clientPaths(file);
      try {
        return path === undefined ? null : await files.readFile(path, { maxBytes: maxComparedBytes });
      } catch (error) {
        if (isLaresError(error)) return null; // missing, too large, or out of reach: nothing to compare with
        throw error;
      }
    }),
  };
}
