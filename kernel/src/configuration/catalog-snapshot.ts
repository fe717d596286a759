import type { Hash } from "../base/vocabulary/common.ts";
import type { RequestedNamespace } from "../decisions/namespaces.ts";
import type { RequestedPermissions } from "../decisions/requested-permissions.ts";
import type { Configuration, ExtensionConfiguration } from "../documents/configuration.ts";
import type { ProbedPaths } from "../platform/files/path-watch.ts";
import type { BrokenExtension } from "./broken-extensions.ts";
import type { ExtensionOnDisk } from "./find-extensions.ts";
import type { MindParts } from "./mind-parts.ts";
import type { LoadedProgram } from "./programs.ts";
import type { SettingOrigins } from "./setting-origins.ts";

/** An extension that the documents name, as it is on disk now. */
export interface CatalogEntry {
  readonly id: string;
  readonly configuration: ExtensionConfiguration;
  readonly extension: ExtensionOnDisk;
  readonly program: LoadedProgram;
  /** The person's additions to its mind; absent if it has no mind. */
  readonly mind?: MindParts;
}

/** The combined contents of all documents at one moment. */
export interface CatalogSnapshot {
  /** Digest of everything that the user is shown and accepts. */
  readonly digest: Hash;
  readonly requests: RequestedPermissions;
  readonly entries: readonly CatalogEntry[];
  /** Extensions that were found and whose manifests cannot be used. */
  readonly broken: readonly BrokenExtension[];
  /** The configuration of all layers, as if everything were accepted. */
  readonly configuration: Configuration;
  /** The configuration of the person's own layers, which is in force without asking. */
  readonly standing: Configuration;
  /** The origins of the settings and rules of both configurations. */
  readonly origins: { readonly all: SettingOrigins; readonly standing: SettingOrigins };
  /** The shared memories of the person's own layers. */
  readonly ownNamespaces: readonly RequestedNamespace[];
  /** Sentences about what could not be used. */
  readonly faults: readonly string[];
  /** Every path that was probed, including misses. */
  readonly lookedAt: ProbedPaths & {
    /** Documents that are not blank. */
    readonly written: ReadonlySet<string>;
    /** Documents that are missing or blank. */
    readonly unwritten: ReadonlySet<string>;
  };
  /** False if the workspace has a document of which nothing is usable. */
  readonly isReadable: boolean;
  /** True if modules were checked, which is required before anything runs. */
  readonly hasCheckedModules: boolean;
}
