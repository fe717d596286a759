import { resolve } from "../platform/files/paths.ts";
import type { RequestedNamespace } from "../decisions/namespaces.ts";
import type { Configuration } from "../documents/configuration.ts";
import type { LaresDocument } from "../documents/schema/lares.ts";

type WrittenNamespace = Configuration["sharedNamespaces"][number];
type Namespaces = Pick<Configuration, "sharedNamespaces" | "importNamespaces">;

/** Returns a document's requests for shared memories. Another workspace's memory can only be read. */
export function requestedNamespaces({
  sharedNamespaces,
  importNamespaces,
}: Namespaces): RequestedNamespace[] {
  const wishOf = (
    { name, extensions, read_write: writable = false }: WrittenNamespace,
    workspace: string | null,
  ): RequestedNamespace => ({
    name,
    extensions: extensions ?? null,
    writable: writable && workspace === null,
    workspace,
    // Filled in by `withRealPaths`.
    realPath: null,
  });
  return [
    ...sharedNamespaces.map((written) => wishOf(written, null)),
    ...importNamespaces.flatMap((written) =>
      // An import without a workspace cannot be read; the document's check reports it.
      written.workspace === undefined ? [] : [wishOf(written, written.workspace)],
    ),
  ];
}

/** Returns the document with its imports resolved against its folder, which is absolute. */
export function withImportsFrom(document: LaresDocument, folder: string): LaresDocument {
  const imports = document.import_namespaces;
  if (imports === undefined) return document;
  return {
    ...document,
    import_namespaces: imports.map((written) =>
      written.workspace === undefined
        ? written
        : { ...written, workspace: resolve(folder, written.workspace) },
    ),
  };
}

/** Returns the requests with the real path of each import. `folder`: where relative paths begin. */
export async function withRealPaths(
  requests: readonly RequestedNamespace[],
  folder: string,
  realPathOf: (path: string) => Promise<string>,
): Promise<RequestedNamespace[]> {
  return Promise.all(
    requests.map(async (request) =>
      request.workspace === null
        ? request
        : { ...request, realPath: await realPathOf(resolve(folder, request.workspace)) },
    ),
  );
}

/** Returns the user's own shared memories and the accepted ones of the document; the first of a name is used. */
export function namespacesInForce(
  standing: readonly RequestedNamespace[],
  accepted: readonly RequestedNamespace[],
): RequestedNamespace[] {
  const names = new Set<string>();
  return [...standing, ...accepted].filter(({ name }) => {
    const isFirst = !names.has(name);
    names.add(name);
    return isFirst;
  });
}

/** Returns what one extension may do with each shared memory. */
export function namespaceGrants(
  extension: string,
  namespaces: readonly RequestedNamespace[],
): Readonly<Record<string, "read" | "read_write">> {
  return Object.fromEntries(
    namespaces
      .filter(({ extensions }) => extensions === null || extensions.includes(extension))
      .map(({ name, writable }) => [name, writable ? "read_write" : "read"]),
  );
}
