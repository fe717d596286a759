import { dirname, join, relative, sep } from "node:path";
import type { Log } from "../base/log.ts";
import { LaresError } from "../base/errors.ts";
import { canonicalJson } from "../base/json.ts";
import { rootNames } from "../base/root-names.ts";
import type { Hash } from "../base/vocabulary/common.ts";
import { named } from "../base/named.ts";
import type { NamespaceWish } from "../decisions/namespaces.ts";
import type { Wishes } from "../decisions/wishes.ts";
import type { Configuration, ExtensionConfiguration } from "../documents/configuration.ts";
import { hasErrors, type Diagnostic } from "../documents/diagnostics.ts";
import { behaviourOf } from "./behaviours.ts";
import { brokenExtension, type BrokenExtension } from "./broken-extensions.ts";
import { otherSettings, raisedLimits } from "./in-force.ts";
import { namespaceWishes, withImportsFrom, withRealPaths } from "./namespaces.ts";
import { checkLares } from "../documents/lares.ts";
import { isForeignManifest } from "../documents/foreign-manifest.ts";
import { checkManifest } from "../documents/manifest.ts";
import type { LaresDocument } from "../documents/schema/lares.ts";
import { laresNames } from "../documents/names.ts";
import type { EventPorts, FoundExtension, ManifestPorts } from "../documents/ports.ts";
import { resolveConfiguration, type Layer, type ResolvedConfiguration } from "../documents/resolve.ts";
import { sha256 } from "../platform/hash.ts";
import { effectivePermissions } from "../policy/permissions.ts";
import { ExtensionFinder, type ExtensionOnDisk, type ExtensionPlaces } from "./find-extensions.ts";
import { digestOfProgram, type LoadedProgram, type ProgramLoader } from "./programs.ts";
import { settingOrigins, type SettingOrigins } from "./setting-origins.ts";
import { misplacement } from "./extension-places.ts";
import { namedRoots } from "./workspace-paths.ts";
import { workspaceFolders, type WorkspaceFolders } from "./workspace-folders.ts";
import { ObservedFiles, type Observed } from "./observed-files.ts";
import { readText, type DocumentText } from "./read-documents.ts";

export interface CatalogOptions {
  /** The workspace's roots, absolute. The first that has a document is the one whose document counts. */
  readonly roots: readonly string[];
  readonly userFolder: string;
  /** Where the state of all workspaces is kept; absent for whoever only checks documents. */
  readonly stateHome?: string;
  readonly bundledExtensions: string;
  readonly defaultsFile: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly kernelVersion: string;
  readonly events: EventPorts;
  readonly programs: ProgramLoader;
  readonly log: Log;
}

/** An extension that the documents name, as it is on disk now. */
export interface CatalogEntry {
  readonly id: string;
  readonly configuration: ExtensionConfiguration;
  readonly extension: ExtensionOnDisk;
  readonly program: LoadedProgram;
}

/** What all documents together say at one moment. */
export interface CatalogSnapshot {
  /** Stands for everything a person is shown and says yes to. */
  readonly digest: Hash;
  readonly wishes: Wishes;
  readonly entries: readonly CatalogEntry[];
  /** Extensions that are there and whose manifests have no manifest's form. */
  readonly broken: readonly BrokenExtension[];
  /** Of all layers, as if everything were accepted. */
  readonly configuration: Configuration;
  /** Of the person's own layers: what counts without asking. */
  readonly standing: Configuration;
  /** Where the settings and rules of both are written. */
  readonly origins: { readonly all: SettingOrigins; readonly standing: SettingOrigins };
  /** The shared memories of the person's own layers. */
  readonly ownNamespaces: readonly NamespaceWish[];
  /** Sentences about what could not be used. */
  readonly faults: readonly string[];
  /** Where was looked, and where something may yet come to be. */
  readonly lookedAt: Observed;
  /** False where the workspace has a document and nothing of it can be used. */
  readonly isReadable: boolean;
  /** Whether modules were looked into, as they have to be before anything runs. */
  readonly isLookedInto: boolean;
}

/** Reads the documents, the manifests and the programs they name. Never fails for what they hold. */
export class Catalog {
  readonly #options: CatalogOptions;
  readonly #folders: WorkspaceFolders;

  constructor(options: CatalogOptions) {
    this.#options = options;
    this.#folders = workspaceFolders(options.roots);
  }

  /** The workspace's document, the one that counts; null where none of its roots has one. */
  async workspaceDocument(files: ObservedFiles): Promise<DocumentText | null> {
    for (const root of this.#options.roots) {
      const found = await files.readFirst(root, laresNames);
      if (found !== null) return found;
    }
    return null;
  }

  /** The document of another root in whose stead this root's does not count; null otherwise. */
  async countsInsteadOf(file: string, files: ObservedFiles): Promise<string | null> {
    if (!this.#options.roots.includes(dirname(file))) return null;
    const counting = await this.workspaceDocument(files);
    return counting === null || dirname(counting.file) === dirname(file) ? null : counting.file;
  }

  finder(files = new ObservedFiles()): ExtensionFinder {
    const places: ExtensionPlaces = {
      workspace: this.#options.roots.map((root) => join(root, ".lares", "extensions")),
      user: join(this.#options.userFolder, "extensions"),
      bundled: this.#options.bundledExtensions,
    };
    return new ExtensionFinder(
      places,
      ({ text, file }) => checkManifest(text, file, this.manifestPorts(file, files)),
      files,
    );
  }

  /** What checking this manifest needs to know. */
  manifestPorts(file: string, files: ObservedFiles): ManifestPorts {
    return {
      events: this.#options.events,
      fileExists: (path) => files.fileExists(join(dirname(file), path)),
      kernelVersion: this.#options.kernelVersion,
      kernelFeatures: [],
    };
  }

  /** Whose document this file is. */
  layerOf(file: string): "workspace" | "user" {
    return dirname(file) === this.#options.userFolder ? "user" : "workspace";
  }

  /** `looksInto`: what is named may come to run, so modules are looked into as well. */
  async load(looksInto: boolean): Promise<CatalogSnapshot> {
    const faults: string[] = [];
    const files = new ObservedFiles();
    const finder = this.finder(files);
    const { resolved, own, workspaceText, workspace } = await this.resolve(files, finder, faults);
    const standing = own.value;
    const broken = new Map<string, BrokenExtension>();
    const configured = await this.#locate(resolved.value.extensions, finder, faults, broken);
    const entries = await this.#loadPrograms(configured, looksInto);
    const [firstRoot = ""] = this.#options.roots;
    const realPaths = (wishes: readonly NamespaceWish[]): Promise<NamespaceWish[]> =>
      withRealPaths(wishes, firstRoot, (path) => files.realPath(path));
    const { shared_namespaces: sharedNamespaces = [], import_namespaces: importNamespaces = [] } =
      workspace?.value ?? {};
    const wishes = wishesOf(
      entries,
      resolved.value,
      standing,
      workspace?.value ?? {},
      await realPaths(namespaceWishes({ sharedNamespaces, importNamespaces })),
      (entry) => this.#originOf(entry),
    );
    return {
      digest: digestOf(workspaceText, entries, wishes),
      wishes,
      ownNamespaces: await realPaths(namespaceWishes(standing)),
      entries,
      // A usable extension keeps its id: a broken manifest cannot claim the same one.
      broken: [...broken.values()].filter(({ id }) => !entries.some((entry) => entry.id === id)),
      configuration: resolved.value,
      standing,
      origins: { all: settingOrigins(resolved), standing: settingOrigins(own) },
      faults,
      lookedAt: files,
      isReadable: workspaceText === null || workspace !== null,
      isLookedInto: looksInto,
    };
  }

  /** Where an extension's folder lies, in a person's words; through a link: where that leads. */
  #originOf({ configuration, extension }: CatalogEntry): string {
    const { folder, named: place } = extension;
    if (folder === place) return this.#placeOf(folder);
    const written = configuration.path ?? this.#placeOf(place).replace(/^from (?:this workspace's )?/, "");
    return `from ${named(written)} → ${named(folder)}`;
  }

  #placeOf(folder: string): string {
    const { roots, userFolder, bundledExtensions } = this.#options;
    const isIn = (place: string): boolean => folder === place || folder.startsWith(place + sep);
    if (isIn(bundledExtensions)) return "comes with Lares";
    if (isIn(userFolder)) return "one of your own extensions";
    const index = roots.findIndex(isIn);
    const root = roots[index];
    if (root === undefined) return `from ${named(folder)}`;
    const inside = relative(root, folder).split(sep);
    // As paths are named everywhere: with the root's name where there are several.
    const path = roots.length === 1 ? inside : [rootNames(roots)[index], ...inside];
    return `from this workspace's ${named(path.join("/"))}`;
  }

  /** Why an extension's folder is no place for one; null where it is. */
  #misplacement({ folder }: ExtensionOnDisk, granted: readonly string[]): Promise<string | null> {
    const { roots, userFolder, stateHome } = this.#options;
    const closed = [userFolder, ...(stateHome === undefined ? [] : [stateHome])];
    return misplacement(folder, { roots: namedRoots(roots), closed }, granted);
  }

  /** One after the other, and not more than all together may have: they may come from a stranger. */
  async #loadPrograms(
    configured: readonly { configuration: ExtensionConfiguration; extension: ExtensionOnDisk }[],
    looksInto: boolean,
  ): Promise<CatalogEntry[]> {
    const entries: CatalogEntry[] = [];
    let bytes = 0;
    for (const { configuration, extension } of configured) {
      const manifest = extension.checked.value;
      let program: LoadedProgram;
      if (manifest === null || manifest.main === null) program = { program: null, fault: noProgram };
      else if (bytes > maxProgramBytesInAll) program = { program: null, fault: tooManyPrograms };
      else program = await this.#options.programs.load(extension.folder, manifest.main, looksInto);
      bytes += program.program?.bytes.length ?? 0;
      entries.push({ id: manifest?.id ?? "", configuration, extension, program });
    }
    return entries;
  }

  /** The configuration of all layers; a layer with errors is left out and said. */
  async resolve(
    files: ObservedFiles,
    finder: ExtensionFinder,
    faults: string[],
  ): Promise<{
    resolved: ResolvedConfiguration;
    /** The configuration without the workspace's layer. */
    own: ResolvedConfiguration;
    workspaceText: DocumentText | null;
    workspace: Layer | null;
  }> {
    const workspaceText = await this.workspaceDocument(files);
    const userText = await files.readFirst(this.#options.userFolder, laresNames);
    const defaults = await this.#layer(
      { file: this.#options.defaultsFile, text: (await readText(this.#options.defaultsFile)) ?? "" },
      "defaults",
      files,
      finder,
      faults,
    );
    if (defaults === null)
      throw new LaresError(
        "InternalError",
        `The defaults in ${this.#options.defaultsFile} are damaged; install Lares again.`,
      );
    const workspace =
      workspaceText === null ? null : await this.#layer(workspaceText, "workspace", files, finder, faults);
    const user = userText === null ? null : await this.#layer(userText, "user", files, finder, faults);
    const { environment } = this.#options;
    const resolved = await resolveConfiguration({ environment, workspace, user, defaults });
    const own = await resolveConfiguration({ environment, workspace: null, user, defaults });
    faults.push(...resolved.environmentFaults.map(({ message }) => message));
    return { resolved, own, workspaceText, workspace };
  }

  async #layer(
    { file, text }: DocumentText,
    layer: "workspace" | "user" | "defaults",
    files: ObservedFiles,
    finder: ExtensionFinder,
    faults: string[],
  ): Promise<Layer | null> {
    const checked = await this.checkLares(text, file, layer, files, finder);
    if (checked.value !== null && !hasStructuralErrors(checked.diagnostics)) {
      // What is imported is named from where the document lies; the workspace's own place is its first root.
      const isElsewhere =
        layer === "user" || (layer === "workspace" && dirname(file) !== this.#options.roots[0]);
      const value = isElsewhere ? withImportsFrom(checked.value, dirname(file)) : checked.value;
      return { file, value, document: checked.document };
    }
    const first = checked.diagnostics.find(({ severity }) => severity === "error");
    faults.push(`${file}:${(first?.range.start.line ?? 0) + 1}: ${first?.message ?? "it cannot be read."}`);
    return null;
  }

  checkLares(
    text: string,
    file: string,
    layer: "workspace" | "user" | "defaults",
    files: ObservedFiles,
    finder = this.finder(files),
  ) {
    return checkLares(text, file, {
      layer,
      folderState: (path) => this.#folders.state(path, files),
      findExtension: async ({ path, id }, granted): Promise<FoundExtension> => {
        const found = path !== undefined ? await finder.byPath(path, file) : await finder.byId(id ?? "");
        if (found === null) {
          return path === undefined
            ? { state: "missing", lookedIn: finder.placesInOrder(), candidates: await finder.ids() }
            : { state: "missing", lookedIn: [], candidates: await finder.beside(path, file) };
        }
        const { checked, manifest } = found;
        const reason = await this.#misplacement(found, granted);
        if (reason !== null) return { state: "misplaced", file: manifest.file, reason };
        if (!checked.usable || checked.value === null) {
          const isForeign = isForeignManifest(checked.document.value);
          return { state: "invalid", file: manifest.file, isForeign };
        }
        return { state: "found", file: manifest.file, manifest: checked.value };
      },
    });
  }

  /** Each configured extension on disk, then whatever else was dropped into the workspace's folder of extensions. */
  async #locate(
    configurations: readonly ExtensionConfiguration[],
    finder: ExtensionFinder,
    faults: string[],
    broken: Map<string, BrokenExtension>,
  ): Promise<{ configuration: ExtensionConfiguration; extension: ExtensionOnDisk }[]> {
    const breaks = (extension: ExtensionOnDisk, configuration: ExtensionConfiguration | null): void => {
      const fault = firstFault(extension);
      faults.push(fault);
      if (isForeignManifest(extension.checked.document.value)) return;
      const found = brokenExtension(extension, configuration, fault);
      if (!broken.has(found.id)) broken.set(found.id, found);
    };
    const granted = [...new Set(configurations.flatMap(({ grants }) => grants.locations))];
    const located = new Map<string, { configuration: ExtensionConfiguration; extension: ExtensionOnDisk }>();
    for (const configuration of configurations) {
      const { path, id, from } = configuration;
      const extension =
        path !== undefined ? await finder.byPath(path, from.file) : await finder.byId(id ?? "");
      const found = extension?.checked.value?.id;
      if (extension === null || found === undefined) {
        if (extension === null) faults.push(`There is no extension "${id ?? path}".`);
        else breaks(extension, configuration);
        continue;
      }
      const reason = await this.#misplacement(extension, granted);
      if (reason !== null) {
        faults.push(reason);
        continue;
      }
      if (located.has(found)) faults.push(`"${found}" is named twice; the first entry counts.`);
      else located.set(found, { configuration, extension });
    }
    for (const extension of await finder.droppedIn()) {
      const id = extension.checked.value?.id;
      const reason = await this.#misplacement(extension, granted);
      if (reason !== null) faults.push(reason);
      else if (id === undefined) breaks(extension, null);
      else if (!located.has(id)) located.set(id, { configuration: droppedIn(id, extension), extension });
    }
    return [...located.values()];
  }
}

/** Programs of one workspace together, in bytes. */
const maxProgramBytesInAll = 128 * 1024 * 1024;
const tooManyPrograms = `The programs of this workspace are larger than ${maxProgramBytesInAll} bytes together; this one is not loaded.`;
const noProgram =
  "It has no program: its folder holds no agent.wasm, agent.ts or agent.js, and its manifest names no main.";

/** An extension nobody configured asks for what its manifest asks for, in the whole workspace. */
function droppedIn(id: string, extension: ExtensionOnDisk): ExtensionConfiguration {
  return {
    id,
    from: { source: "workspace", file: extension.manifest.file },
    enabled: true,
    grants: { locations: ["."], allow: ["*"], deny: [] },
    config: {},
  };
}

function wishesOf(
  entries: readonly CatalogEntry[],
  configuration: Configuration,
  standing: Configuration,
  document: LaresDocument,
  namespaces: readonly NamespaceWish[],
  originOf: (entry: CatalogEntry) => string,
): Wishes {
  const rules = document.approvals?.rules ?? [];
  const below = configuration.approvals.autoApproveBelow;
  return {
    extensions: Object.fromEntries(
      entries
        .filter(({ configuration: { enabled } }) => enabled)
        .flatMap((entry) => wishOf(entry, originOf(entry))),
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
    ],
  };
}

function wishOf(
  { id, configuration, extension, program }: CatalogEntry,
  origin: string,
): [string, Wishes["extensions"][string]][] {
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

/**
 * Over the document, the manifests, every file that went into the programs, and all that is wished: the same for the
 * same files and real places, whatever comes out where a module is looked into.
 */
function digestOf(document: DocumentText | null, entries: readonly CatalogEntry[], wishes: Wishes): Hash {
  const extensions = entries
    .map(({ id, extension, program }) => ({
      id,
      manifest: sha256(extension.manifest.text),
      program: digestOfProgram(program),
    }))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const wished = Object.entries(wishes.extensions).map(([id, wish]) => ({ id, ...wish, program: null }));
  return sha256(
    canonicalJson({
      document: document === null ? null : sha256(document.text),
      extensions,
      wishes: { ...wishes, extensions: wished },
    }),
  );
}

/** Errors that leave no value to work with; one bad entry of `extensions` does not stop the others. */
function hasStructuralErrors(diagnostics: readonly Diagnostic[]): boolean {
  const local = new Set([
    "extension-not-found",
    "extension-invalid",
    "extension-holds-files",
    "duplicate-extension",
    "location-not-found",
    "location-outside",
    "extension-reference",
  ]);
  return hasErrors(diagnostics.filter(({ code }) => !local.has(code)));
}

function firstFault({ manifest, checked }: ExtensionOnDisk): string {
  const first = checked.diagnostics.find(({ severity }) => severity === "error");
  const { line = 0, character = 0 } = first?.range.start ?? {};
  return `${manifest.file}:${line + 1}:${character + 1}: ${first?.message ?? "It is no manifest."}`;
}
