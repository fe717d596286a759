import { resolve } from "node:path";
import { LaresError } from "../base/errors.ts";
import { named } from "../base/named.ts";
import { extensionIdPattern } from "../base/vocabulary/extension.ts";
import type { OpenOptions } from "../services/packages.ts";
import { packageBounds } from "../packages/bounds.ts";
import type { IndexEntry } from "../packages/package-index.ts";
import { fileOrFolderExists } from "../platform/files/document-files.ts";
import type { Environment } from "../platform/files/state-folder.ts";
import { shownAddress, type Download } from "./downloads.ts";
import { newestOf, openIndex, packageOfEntry } from "./indexes.ts";
import { packageFromNpm } from "./npm-registry.ts";
import { isAddress, packageAt, type FoundPackage, type LocalPorts } from "./sources.ts";

interface FindPorts extends LocalPorts {
  readonly environment: Environment;
  readonly download: Download;
}

const idForm = new RegExp(extensionIdPattern);

/**
 * Finds a package: by an id in an index, on npm, at an address or at a path. `entry`: what the index says about it, which is to
 * be compared. NotFound, NetworkError; nothing is verified yet.
 */
export async function findPackage(
  reference: string,
  { from, signal, received }: OpenOptions,
  ports: FindPorts,
): Promise<FoundPackage & { readonly entry?: IndexEntry }> {
  const progress = received === undefined ? {} : { received };
  const { download, environment } = ports;
  if (from !== undefined) {
    if (!idForm.test(reference))
      throw new LaresError(
        "InvalidParams",
        `${named(reference)} is not an id, which --from looks up in an index.`,
      );
    const index = await openIndex(from, { download, signal });
    const entry = newestOf(index, reference);
    const bytes = await packageOfEntry(index, entry, { download, signal, ...progress });
    return { bytes, source: `index:${index.place}`, entry };
  }
  if (reference.startsWith("npm:"))
    return packageFromNpm(reference.slice("npm:".length), { environment, download, signal, ...progress });
  if (isAddress(reference)) {
    const bytes = await download({
      url: reference,
      maxBytes: packageBounds.maxPackageBytes,
      what: "the package",
      named: [reference],
      signal,
      ...progress,
    });
    return { bytes, source: shownAddress(reference) };
  }
  if (
    idForm.test(reference) &&
    !reference.endsWith(".lares") &&
    !(await fileOrFolderExists(resolve(reference)))
  )
    throw new LaresError(
      "NotFound",
      `${named(reference)} looks like an id. Name the index in which it is looked up: --from <file or address>.`,
      { id: reference },
    );
  return packageAt(reference, ports);
}
