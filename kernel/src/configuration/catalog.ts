import type { RequestedNamespace } from "../decisions/namespaces.ts";
import type { ExtensionConfiguration } from "../documents/configuration.ts";
import { isForeignManifest } from "../documents/foreign-manifest.ts";
import { brokenExtension, type BrokenExtension } from "./broken-extensions.ts";
import type { ExtensionFinder, ExtensionOnDisk } from "./find-extensions.ts";
import { withNamedModels } from "./named-models.ts";
import { requestedNamespaces, withRealPaths } from "./namespaces.ts";
import { ObservedFiles } from "./observed-files.ts";
import { sizeOf, withMindFiles } from "./mind-program.ts";
import { noProgram, type LoadedProgram, type ProgramLoader } from "./programs.ts";
import { digestOf, requestsOf, type ExtensionOrigins } from "./requests.ts";
import { settingOrigins } from "./setting-origins.ts";
import type { CatalogEntry, CatalogSnapshot } from "./catalog-snapshot.ts";
import type { WorkspaceDocuments } from "./workspace-documents.ts";

interface CatalogOptions extends ExtensionOrigins {
  readonly documents: WorkspaceDocuments;
  readonly programs: ProgramLoader;
}

/** Reads the documents, and the manifests and programs that they name. Never rejects because of what these hold. */
export class Catalog {
  readonly #options: CatalogOptions;

  constructor(options: CatalogOptions) {
    this.#options = options;
  }

  /** `checksModules`: the programs may run, so modules are checked as well. */
  async load(checksModules: boolean): Promise<CatalogSnapshot> {
    const faults: string[] = [];
    const files = new ObservedFiles();
    const { documents } = this.#options;
    const finder = documents.createFinder(files);
    const { resolved, own, workspaceText, workspace } = await documents.resolve(files, finder, faults);
    const standing = own.value;
    const broken = new Map<string, BrokenExtension>();
    const configured = await this.#locate(resolved.value.extensions, finder, faults, broken);
    const entries = await this.#loadPrograms(configured, checksModules, files, faults);
    const [firstRoot = ""] = this.#options.roots;
    const realPaths = (requests: readonly RequestedNamespace[]): Promise<RequestedNamespace[]> =>
      withRealPaths(requests, firstRoot, (path) => files.realPath(path));
    const { shared_namespaces: sharedNamespaces = [], import_namespaces: importNamespaces = [] } =
      workspace?.value ?? {};
    const requests = requestsOf(
      entries,
      resolved.value,
      standing,
      workspace?.value ?? {},
      await realPaths(requestedNamespaces({ sharedNamespaces, importNamespaces })),
      this.#options,
    );
    return {
      digest: digestOf(workspaceText, entries, requests),
      requests,
      ownNamespaces: await realPaths(requestedNamespaces(standing)),
      entries,
      // A usable extension keeps its id: a broken manifest cannot claim the same one.
      broken: [...broken.values()].filter(({ id }) => !entries.some((entry) => entry.id === id)),
      configuration: resolved.value,
      standing,
      origins: { all: settingOrigins(resolved), standing: settingOrigins(own) },
      faults,
      lookedAt: files,
      isReadable: workspaceText === null || workspace !== null,
      hasCheckedModules: checksModules,
    };
  }

  /** Loads some programs at a time, within a bound for all of them: they may come from a stranger. */
  async #loadPrograms(
    configured: readonly { configuration: ExtensionConfiguration; extension: ExtensionOnDisk }[],
    checksModules: boolean,
    files: ObservedFiles,
    faults: string[],
  ): Promise<CatalogEntry[]> {
    const { documents } = this.#options;
    const entries: CatalogEntry[] = [];
    let bytes = 0;
    for (let first = 0; first < configured.length; first += programsAtOnce) {
      const some = configured.slice(first, first + programsAtOnce);
      const isTooMuch = bytes > maxProgramBytesInAll;
      const loading = await Promise.all(
        some.map(({ extension }) => this.#loadProgram(extension, checksModules, isTooMuch)),
      );
      for (const [at, { configuration, extension }] of some.entries()) {
        const manifest = extension.checked.value;
        const program = withMindFiles(loading[at] ?? null, extension.checked) ?? {
          program: null,
          fault: noProgram,
        };
        bytes += (program.program?.bytes.length ?? 0) + sizeOf(program.program?.mind);
        const mind =
          manifest?.mind === undefined ? {} : { mind: await documents.mindParts(manifest.id, files, faults) };
        entries.push({ id: manifest?.id ?? "", configuration, extension, program, ...mind });
      }
    }
    return entries;
  }

  async #loadProgram(
    { folder, checked: { value: manifest } }: ExtensionOnDisk,
    checksModules: boolean,
    isTooMuch: boolean,
  ): Promise<LoadedProgram | null> {
    if (manifest === null || manifest.main === null) return null;
    if (isTooMuch) return { program: null, fault: tooManyPrograms };
    return await this.#options.programs.load(folder, manifest.main, checksModules);
  }

  /** Returns each configured extension on disk, then those that lie in the workspace's folder of extensions unnamed. */
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
      const reason = await this.#options.documents.misplacementOf(extension, granted);
      if (reason !== null) {
        faults.push(reason);
        continue;
      }
      if (located.has(found)) faults.push(`"${found}" is named twice; the first entry counts.`);
      else located.set(found, { configuration, extension: withNamedModels(extension, configuration) });
    }
    for (const extension of await finder.droppedIn()) {
      const id = extension.checked.value?.id;
      const reason = await this.#options.documents.misplacementOf(extension, granted);
      if (reason !== null) faults.push(reason);
      else if (id === undefined) breaks(extension, null);
      else if (!located.has(id)) located.set(id, { configuration: droppedIn(id, extension), extension });
    }
    return [...located.values()];
  }
}

/** The bundler is a process of its own, which uses the other cores. */
const programsAtOnce = 8;
/** All programs of one workspace together, in bytes. */
const maxProgramBytesInAll = 128 * 1024 * 1024;
const tooManyPrograms = `The programs of this workspace are larger than ${maxProgramBytesInAll} bytes together; this one is not loaded.`;

/** The requests of an extension that no document names: those of its manifest, for the whole workspace. */
function droppedIn(id: string, extension: ExtensionOnDisk): ExtensionConfiguration {
  return {
    id,
    from: { source: "workspace", file: extension.manifest.file },
    enabled: true,
    grants: { locations: ["."], allow: ["*"], deny: [] },
    config: {},
  };
}

function firstFault({ manifest, checked }: ExtensionOnDisk): string {
  const first = checked.diagnostics.find(({ severity }) => severity === "error");
  const { line = 0, character = 0 } = first?.range.start ?? {};
  return `${manifest.file}:${line + 1}:${character + 1}: ${first?.message ?? "It is not a manifest."}`;
}
