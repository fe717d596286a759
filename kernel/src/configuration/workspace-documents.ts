import { LaresError } from "../base/errors.ts";
import { hasErrors, type Diagnostic } from "../documents/text/diagnostics.ts";
import { isForeignManifest } from "../documents/foreign-manifest.ts";
import { checkLares } from "../documents/lares.ts";
import { checkManifest } from "../documents/manifest.ts";
import { laresNames } from "../documents/names.ts";
import type { EventPorts, FoundExtension, ManifestPorts } from "../documents/ports.ts";
import type { ResolvedManifest } from "../documents/resolved-manifest.ts";
import { resolveConfiguration, type Layer, type ResolvedConfiguration } from "../documents/resolve.ts";
import { readText, realPathOf, realPathOrNull, type DocumentText } from "../platform/files/document-files.ts";
import { dirname, join } from "../platform/files/paths.ts";
import { type Misplacement, misplacements } from "./extension-places.ts";
import { readOwn, readPrompts, type MindParts } from "./mind-parts.ts";
import {
  extensionIds,
  ExtensionFinder,
  manifestOf,
  type ExtensionOnDisk,
  type ExtensionPlaces,
} from "./find-extensions.ts";
import { withImportsFrom } from "./namespaces.ts";
import { ObservedFiles } from "./observed-files.ts";
import { workspaceFolders, type WorkspaceFolders } from "./workspace-folders.ts";
import { namedRoots } from "./workspace-paths.ts";

export interface DocumentOptions {
  /** The workspace's roots, absolute. The document of the first root that has one is used. */
  readonly roots: readonly string[];
  readonly userFolder: string;
  /** The folder with the state of all workspaces; absent for a caller that only checks documents. */
  readonly stateHome?: string;
  /**
   * This workspace's own state. A document that the person has there is used where no root has one. Absent for a caller
   * that only checks documents.
   */
  readonly stateFolder?: string;
  readonly bundledExtensions: string;
  readonly defaultsFile: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly kernelVersion: string;
  readonly events: EventPorts;
}

/** Finds, reads and checks the documents of one workspace and its user. Never rejects because of their contents. */
export class WorkspaceDocuments {
  readonly #options: DocumentOptions;
  readonly #folders: WorkspaceFolders;
  /** By the locations that are granted, as one reading names them: the next one looks at the disk again. */
  readonly #misplacements = new WeakMap<readonly string[], Promise<Misplacement>>();
  /** The user's document as it was when it had no fault. */
  #soundUserLayer: Layer | null = null;

  constructor(options: DocumentOptions) {
    this.#options = options;
    this.#folders = workspaceFolders(options.roots);
  }

  /** Returns the workspace's document, of the first root that has one, else the one in its state; null if none has. */
  async workspaceDocument(files: ObservedFiles): Promise<DocumentText | null> {
    const { roots, stateFolder } = this.#options;
    for (const folder of [...roots, ...(stateFolder === undefined ? [] : [stateFolder])]) {
      const found = await files.readFirst(folder, laresNames);
      if (found !== null) return found;
    }
    return null;
  }

  /** Returns the document of another root that is used instead of this root's; null if this one is used. */
  async documentInsteadOf(file: string, files: ObservedFiles): Promise<string | null> {
    if (!this.#options.roots.includes(dirname(file))) return null;
    const counting = await this.workspaceDocument(files);
    return counting === null || dirname(counting.file) === dirname(file) ? null : counting.file;
  }

  /** Returns a new finder; it reads each folder once. */
  createFinder(files = new ObservedFiles()): ExtensionFinder {
    const places = this.#places();
    return new ExtensionFinder(
      places,
      ({ text, file }) => checkManifest(text, file, this.manifestPorts(file, files)),
      files,
    );
  }

  /** Returns what the mind of this agent has besides the texts of its extension; `faults`: see `readOwn`. */
  async mindParts(agent: string, files: ObservedFiles, faults: string[]): Promise<MindParts> {
    const { defaultsFile, userFolder } = this.#options;
    return {
      prompts: await readPrompts(join(dirname(defaultsFile), "prompts"), files),
      own: await readOwn(join(userFolder, "agents", agent), files, faults),
    };
  }

  /** Returns the input for the check of this manifest. */
  manifestPorts(file: string, files: ObservedFiles): ManifestPorts {
    // Nothing outside the folder is read, whichever links lead to it.
    let real: Promise<string> | undefined;
    const folder = (): Promise<string> => (real ??= files.realPath(dirname(file)));
    return {
      events: this.#options.events,
      fileExists: (path) => files.fileExists(join(dirname(file), path)),
      files: {
        read: async (path, maxBytes) => files.readTextIn(await folder(), path, maxBytes),
        folders: async (path) => files.foldersIn(await folder(), path),
      },
      extensionIds: () => extensionIds([dirname(dirname(file)), ...this.#extensionPlaces()], files),
      kernelVersion: this.#options.kernelVersion,
    };
  }

  /**
   * Returns what other extensions declare, for one check of this manifest: those beside it, and those that can be named by
   * id. Each is read once.
   */
  declarations(
    file: string,
    files: ObservedFiles,
  ): Required<Pick<ManifestPorts, "declaredEvents" | "declaredTypes">> {
    const read = new Map<string, Promise<ResolvedManifest | null>>();
    const manifest = (id: string): Promise<ResolvedManifest | null> => {
      const reading = read.get(id) ?? this.#manifestOf(id, file, files);
      read.set(id, reading);
      return reading;
    };
    return {
      declaredEvents: async (id) => (await manifest(id))?.events ?? null,
      declaredTypes: async (id) => {
        const found = await manifest(id);
        return found === null ? null : (found.types ?? []).map(({ name }) => name);
      },
    };
  }

  async #manifestOf(id: string, file: string, files: ObservedFiles): Promise<ResolvedManifest | null> {
    const places = [dirname(dirname(file)), ...this.#extensionPlaces()];
    const manifest = await manifestOf(id, places, files);
    if (manifest === null) return null;
    const checked = await checkManifest(
      manifest.text,
      manifest.file,
      this.manifestPorts(manifest.file, files),
    );
    return checked.value;
  }

  #places(): ExtensionPlaces {
    const { roots, userFolder, bundledExtensions } = this.#options;
    return {
      workspace: roots.map((root) => join(root, ".lares", "extensions")),
      user: join(userFolder, "extensions"),
      bundled: bundledExtensions,
    };
  }

  #extensionPlaces(): string[] {
    const { workspace, user, bundled } = this.#places();
    return [...workspace, user, bundled];
  }

  /** Returns the owner of this document. An editor may name the user's own by a link, or by what it links to. */
  async layerOf(file: string): Promise<"workspace" | "user"> {
    const { userFolder, roots } = this.#options;
    if (dirname(file) === userFolder) return "user";
    if (roots.includes(dirname(file))) return "workspace";
    const [folder, own] = await Promise.all([realPathOf(dirname(file)), realPathOf(userFolder)]);
    if (folder === own) return "user";
    const real = await realPathOf(file);
    const linked = await Promise.all(laresNames.map((name) => realPathOf(join(userFolder, name))));
    return linked.includes(real) ? "user" : "workspace";
  }

  /**
   * Returns why an extension's folder may not hold one; null if it may. `granted`: locations of any agent, of one list a
   * reading.
   */
  async misplacementOf({ folder }: ExtensionOnDisk, granted: readonly string[]): Promise<string | null> {
    const { roots, userFolder, stateHome } = this.#options;
    const closed = [userFolder, ...(stateHome === undefined ? [] : [stateHome])];
    const known = this.#misplacements.get(granted);
    const checking = known ?? misplacements({ roots: namedRoots(roots), closed }, granted);
    this.#misplacements.set(granted, checking);
    return (await checking)(folder);
  }

  /**
   * Resolves the configuration of all layers, and adds to `faults` what is wrong with them. The workspace's layer is left out
   * if it has errors. The user's is the last one without errors, or one rule that refuses every change: nobody knows
   * what its rules were to refuse.
   */
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
    const user = await this.#userLayer(userText, files, finder, faults);
    const { environment } = this.#options;
    const resolved = await resolveConfiguration({ environment, workspace, user, defaults });
    const own = await resolveConfiguration({ environment, workspace: null, user, defaults });
    faults.push(...resolved.environmentFaults.map(({ message }) => message));
    return { resolved, own, workspaceText, workspace };
  }

  async #userLayer(
    text: DocumentText | null,
    files: ObservedFiles,
    finder: ExtensionFinder,
    faults: string[],
  ): Promise<Layer | null> {
    const unread = text === null ? await this.#unreadUserDocument() : null;
    if (unread !== null) faults.push(`${unread}: it cannot be read.`);
    const file = text?.file ?? unread;
    // Editors move the old file away for a moment; what counted then is not forgotten.
    if (file === null) return null;
    const sound = text === null ? null : await this.#layer(text, "user", files, finder, faults);
    if (sound !== null) return (this.#soundUserLayer = sound);
    if (this.#soundUserLayer?.file === file) return this.#soundUserLayer;
    return await this.#layer({ file, text: refusing(file) }, "user", files, finder, []);
  }

  /** Returns the user's document if there is one that has no text: a folder, or a file that nobody may read. */
  async #unreadUserDocument(): Promise<string | null> {
    for (const name of laresNames) {
      const file = join(this.#options.userFolder, name);
      if ((await realPathOrNull(file)) !== null) return file;
    }
    return null;
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
      // Imports are relative to the document's folder; those of the workspace's first root are resolved later.
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
    finder = this.createFinder(files),
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
        const reason = await this.misplacementOf(found, granted);
        if (reason !== null) return { state: "misplaced", file: manifest.file, reason };
        if (!checked.usable || checked.value === null) {
          const isForeign = isForeignManifest(checked.document.value);
          return { state: "invalid", file: manifest.file, isForeign };
        }
        return { state: "found", file: manifest.file, manifest: checked.value };
      },
    });
  }
}

/** A document that refuses every change. */
const refusing = (file: string): string =>
  file.endsWith(".toml")
    ? 'version = 1\n[[approvals.rules]]\ndecide = "deny"\n'
    : "version: 1\napprovals: { rules: [{ decide: deny }] }\n";

/**
 * Returns whether errors leave no usable value. One invalid entry of `extensions` does not affect the others, and a
 * model or a provider that cannot be used says so when it is asked.
 */
function hasStructuralErrors(diagnostics: readonly Diagnostic[]): boolean {
  const local = new Set([
    "extension-not-found",
    "extension-invalid",
    "extension-holds-files",
    "duplicate-extension",
    "invalid-model",
    "invalid-provider",
    "location-not-found",
    "location-outside",
    "extension-reference",
  ]);
  return hasErrors(diagnostics.filter(({ code }) => !local.has(code)));
}
