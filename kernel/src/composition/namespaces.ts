import { resolve } from "node:path";
import type { NamespaceWish } from "../decisions/namespaces.ts";
import type { Configuration } from "../documents/configuration.ts";
import type { LaresDocument } from "../documents/schema/lares.ts";

type WrittenNamespace = Configuration["sharedNamespaces"][number];
type Namespaces = Pick<Configuration, "sharedNamespaces" | "importNamespaces">;

/** What a document wishes of shared memories. Another workspace's memory is only ever read. */
export function namespaceWishes({ sharedNamespaces, importNamespaces }: Namespaces): NamespaceWish[] {
  const wishOf = (
    { name, extensions, read_write: writable = false }: WrittenNamespace,
    workspace: string | null,
  ): NamespaceWish => ({
    name,
    extensions: extensions ?? null,
    writable: writable && workspace === null,
    workspace,
    // Looked up by whoever reads the documents: `withRealPaths`.
    realPath: null,
  });
  return [
    ...sharedNamespaces.map((written) => wishOf(written, null)),
    ...importNamespaces.flatMap((written) =>
      // An import that says not from where has nothing to read; the document's check says so.
      written.workspace === undefined ? [] : [wishOf(written, written.workspace)],
    ),
  ];
}

/** A document's imports lie relative to its folder, whichever workspace is open. `folder`: absolute. */
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

/** With the place that each import leads to now. `folder`: where relative ones begin. */
export async function withRealPaths(
  wishes: readonly NamespaceWish[],
  folder: string,
  realPathOf: (path: string) => Promise<string>,
): Promise<NamespaceWish[]> {
  return Promise.all(
    wishes.map(async (wish) =>
      wish.workspace === null
        ? wish
        : { ...wish, realPath: await realPathOf(resolve(folder, wish.workspace)) },
    ),
  );
}

/** The person's own, and of the document's what was accepted; the first of a name counts. */
export function namespacesInForce(
  standing: readonly NamespaceWish[],
  accepted: readonly NamespaceWish[],
): NamespaceWish[] {
  const names = new Set<string>();
  return [...standing, ...accepted].filter(({ name }) => {
    const isFirst = !names.has(name);
    names.add(name);
    return isFirst;
  });
}

/** What one extension may do with each shared memory. */
export function namespaceGrants(
  extension: string,
  namespaces: readonly NamespaceWish[],
): Readonly<Record<string, "read" | "read_write">> {
  return Object.fromEntries(
    namespaces
      .filter(({ extensions }) => extensions === null || extensions.includes(extension))
      .map(({ name, writable }) => [name, writable ? "read_write" : "read"]),
  );
}
