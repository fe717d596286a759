import { canonicalJson } from "../base/json.ts";
import { named } from "../base/named.ts";
import { rootNames } from "../base/root-names.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import type { RequestedNamespace } from "../decisions/namespaces.ts";
import type { RequestedPermissions } from "../decisions/requested-permissions.ts";
import type { Configuration } from "../documents/configuration.ts";
import type { LaresDocument } from "../documents/schema/lares.ts";
import type { DocumentText } from "../platform/files/document-files.ts";
import { sha256 } from "../platform/files/hash.ts";
import { isWithin, pathInside } from "../platform/files/paths.ts";
import { effectivePermissions } from "../policy/permissions.ts";
import { behaviourOf } from "./behaviours.ts";
import type { CatalogEntry } from "./catalog-snapshot.ts";
import { digestOfProgram } from "./programs.ts";
import { otherSettings, raisedLimits } from "./settings-in-force.ts";
import type { DocumentOptions } from "./workspace-documents.ts";

/** Returns everything that the documents request of the user. */
export function requestsOf(
  entries: readonly CatalogEntry[],
  configuration: Configuration,
  standing: Configuration,
  document: LaresDocument,
  namespaces: readonly RequestedNamespace[],
  places: ExtensionOrigins,
): RequestedPermissions {
  const rules = document.approvals?.rules ?? [];
  const below = configuration.approvals.autoApproveBelow;
  return {
    extensions: Object.fromEntries(
      entries
        .filter(({ configuration: { enabled } }) => enabled)
        .flatMap((entry) => requestOf(entry, originOf(entry, places))),
    ),
    allowRules: rules.filter(({ decide }) => decide === "allow"),
    autoApproveBelow: below > standing.approvals.autoApproveBelow ? below : 0,
    limits: raisedLimits(configuration, standing),
    settings: otherSettings(configuration, standing),
    showsHidden: configuration.index.hidden && !standing.index.hidden,
    namespaces,
    restraints: [
      ...rules.filter(({ decide }) => decide !== "allow").map((rule) => ({ kind: "rule" as const, rule })),
      ...(document.index?.ignore ?? []).map((glob) => ({ kind: "ignore" as const, glob })),
      ...(document.conversations?.untrusted ?? []).map((glob) => ({ kind: "untrusted" as const, glob })),
    ],
  };
}

function requestOf(
  { id, configuration, extension, program }: CatalogEntry,
  origin: string,
): [string, RequestedPermissions["extensions"][string]][] {
  const manifest = extension.checked.value;
  if (manifest === null) return [];
  return [
    [
      id,
      {
        name: manifest.name,
        origin,
        program: program.program?.digest ?? null,
        permissions: effectivePermissions(manifest.permissions, configuration.grants).effective,
        locations: configuration.grants.locations,
        ...behaviourOf(manifest, configuration),
        carries: program.program?.carries ?? [],
      },
    ],
  ];
}

/** The folders in terms of which an extension's location is described. */
export type ExtensionOrigins = Pick<DocumentOptions, "roots" | "userFolder" | "bundledExtensions">;

/** Describes an extension's folder to the user. For a link, describes its target. */
function originOf({ configuration, extension }: CatalogEntry, places: ExtensionOrigins): string {
  const { folder, named: place } = extension;
  if (folder === place) return placeOf(folder, places);
  const written = configuration.path ?? placeOf(place, places).replace(/^from (?:this workspace's )?/, "");
  return `from ${named(written)} → ${named(folder)}`;
}

function placeOf(folder: string, { roots, userFolder, bundledExtensions }: ExtensionOrigins): string {
  if (isWithin(bundledExtensions, folder)) return "comes with Lares";
  if (isWithin(userFolder, folder)) return "one of your own extensions";
  const index = roots.findIndex((root) => isWithin(root, folder));
  const root = roots[index];
  if (root === undefined) return `from ${named(folder)}`;
  const inside = pathInside(root, folder) ?? "";
  // With the root's name if there are several roots, as everywhere.
  return `from this workspace's ${named(roots.length === 1 ? inside : `${rootNames(roots)[index]}/${inside}`)}`;
}

/**
 * Returns the digest over the document, the manifests, every bundled file and all requests. It is the same for the
 * same files and real paths, whatever the check of a module finds.
 */
export function digestOf(
  document: DocumentText | null,
  entries: readonly CatalogEntry[],
  requests: RequestedPermissions,
): Hash {
  const extensions = entries
    .map(({ id, extension, program }) => ({
      id,
      manifest: sha256(extension.manifest.text),
      program: digestOfProgram(program),
    }))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const requested = Object.entries(requests.extensions).map(([id, request]) => ({
    id,
    ...request,
    program: null,
  }));
  return sha256(
    canonicalJson({
      document: document === null ? null : sha256(document.text),
      extensions,
      // Answers that were given to earlier versions are bound to digests with this name.
      wishes: { ...requests, extensions: requested },
    }),
  );
}
