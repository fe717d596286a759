import type { Hash } from "../base/vocabulary/common.ts";
import type { RequestedNamespace } from "../decisions/namespaces.ts";
import type { RequestedPermissions } from "../decisions/requested-permissions.ts";
import type { Configuration, ExtensionConfiguration } from "../documents/configuration.ts";
import type { ProbedPaths } from "../platform/files/path-watch.ts";
import type { BrokenExtension } from "./broken-extensions.ts";
import type { ExtensionOnDisk } from "./find-extensions.ts";
import type { LoadedProgram } from "./programs.ts";
import type { SettingOrigins } from "./setting-origins.ts";

/** An extension that the documents name, as it is on disk now. */
export interface CatalogEntry {
  readonly id: string;
  readonly configuration: ExtensionConfiguration;
  readonly extension: ExtensionOnDisk;
  readonly program: LoadedProgram;
}

/** What all documents together say at one moment. */
export interface CatalogSnapshot {
  /** Stands for everything that a person is shown and accepts. */
  readonly digest: Hash;
  readonly requests: RequestedPermissions;
  readonly entries: readonly CatalogEntry[];
  /** Extensions that were found and whose manifests cannot be used. */
  readonly broken: readonly BrokenExtension[];
  /** The configuration of all layers, as if everything were accepted. */
  readonly configuration: Configuration;
  /** The configuration of the person's own layers, which is in force without asking. */
  readonly standing: Configuration;
  /** Where the settings and rules of both are written. */
  readonly origins: { readonly all: SettingOrigins; readonly standing: SettingOrigins };
  /** The shared memories of the person's own layers. */
  readonly ownNamespaces: readonly RequestedNamespace[];
  /** Sentences about what could not be used. */
  readonly faults: readonly string[];
  /** Every path that was probed, including misses. */
  readonly lookedAt: ProbedPaths & {
    /** Documents that hold a text. */
    readonly written: ReadonlySet<string>;
    /** Documents that are missing or blank. */
    readonly unwritten: ReadonlySet<string>;
  };
  /** False if the workspace has a document and nothing of it can be used. */
  readonly isReadable: boolean;
  /** Whether modules were checked, as they have to be before anything runs. */
  readonly hasCheckedModules: boolean;
}
