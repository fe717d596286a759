import type { Clock } from "../base/clock.ts";
import { isLaresError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { readForEditor } from "../documents/language/for-editors.ts";
import { valueAt } from "../documents/source.ts";
import type { WorkspaceFiles } from "../platform/workspace-files.ts";
import type { KernelServices } from "../server/ports.ts";
import { createAuthoring } from "./authoring.ts";
import type { Catalog } from "./catalog.ts";
import { createDocumentService } from "./documents.ts";
import { createNavigation } from "./navigation.ts";
import { ProgramOutlines } from "./program-outlines.ts";

/** An open document whose file is larger is not compared with it. */
const maxComparedBytes = 16 * 1024 * 1024;

/** What editors are helped with: the kernel's documents, the programs they name, and what lies on the disk. */
export function createEditorServices(from: {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly log: Log;
  readonly roots: readonly string[];
  readonly files: WorkspaceFiles;
  /** The paths in the workspace of an absolute one, as a client names it. */
  readonly clientPaths: (absolute: string) => Promise<readonly string[]>;
}): Pick<KernelServices, "authoring" | "navigation" | "documents"> {
  const { catalog, clock, log, roots, files, clientPaths } = from;
  const outlines = new ProgramOutlines();
  return {
    authoring: createAuthoring({
      catalog,
      clock,
      roots,
      programExports: async (manifestFile, text, open) => {
        const main = valueAt((await readForEditor(text, manifestFile)).value, "/extension/main");
        const outline = await outlines.outlineAt(manifestFile, main, open);
        const names = (kind: "hooks" | "tools") => outline?.handlers[kind].map(({ name }) => name) ?? [];
        return { handlers: names("hooks"), tools: names("tools") };
      },
    }),
    navigation: createNavigation(catalog, outlines),
    documents: createDocumentService({ catalog, clock, log, roots }, outlines, async (file) => {
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
