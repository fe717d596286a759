import { join } from "node:path";
import { openObjectStore, type ObjectStore } from "../../platform/files/object-store.ts";
import { openRootedFs } from "../../platform/files/rooted-fs.ts";
import { WorkspaceFiles } from "../../platform/files/workspace-files.ts";
import { namedRoots, pathMapper, throughLinks, type NamedRoot } from "../../configuration/workspace-paths.ts";
import { UnsavedDocuments } from "../../services/unsaved-documents.ts";
import { createFileService } from "./file-service.ts";
import type { KernelContext } from "./kernel-context.ts";

export interface KernelFiles {
  readonly roots: readonly NamedRoot[];
  readonly files: WorkspaceFiles;
  /** Contents of proposals, and the contents that they replaced. */
  readonly objects: ObjectStore;
  /** Returns the workspace paths of an absolute real path. */
  readonly workspacePaths: (absolute: string) => readonly string[];
  /** Returns the workspace paths of an absolute path from a client. */
  readonly clientPaths: (absolute: string) => Promise<readonly string[]>;
  readonly clientFiles: ReturnType<typeof createFileService>;
  readonly unsaved: UnsavedDocuments;
}

/** Opens the workspace's folders and the store of contents. */
export async function openFiles(context: KernelContext): Promise<KernelFiles> {
  const { stateFolder, opened, givenRoots } = context;
  const objects = await openObjectStore(join(stateFolder, "objects"));
  const roots = namedRoots(context.roots);
  const rooted = await Promise.all(
    roots.map(async ({ name, path }) => ({ name, files: opened.use(await openRootedFs(path)) })),
  );
  const files = new WorkspaceFiles(rooted);
  const workspacePaths = pathMapper(roots);
  // A client may know the workspace by a path with links in it.
  const given = pathMapper(givenRoots.map((path, index) => ({ name: roots[index]?.name ?? "", path })));
  const clientPaths = throughLinks((absolute) => [...workspacePaths(absolute), ...given(absolute)]);
  const clientFiles = createFileService(files, clientPaths);
  const unsaved = new UnsavedDocuments(clientFiles);
  return { roots, files, objects, workspacePaths, clientPaths, clientFiles, unsaved };
}
