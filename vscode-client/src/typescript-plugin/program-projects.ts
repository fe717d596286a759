import type { ExtensionFolders } from "./extension-folders.ts";
import type { Project, ProjectService, ScriptInfo, ServerHost, TypeScript } from "./tsserver.ts";

const inferred = 0;
/**
 * Tests run in Node by `lares test`, so they keep the editor's own options, and find Node's types like any loose file.
 */
const testFile = /\.test\.[cm]?[jt]sx?$/;
/** The number of extensions with their own project; programs of further ones stay with the workspace's loose files. */
const maxRoots = 500;
/**
 * The libraries of the language that the guest's engine has, without those of browsers and Node. A TypeScript version
 * that does not know one of them has its contents in another library, or lacks them.
 */
const libraries = [
  "es2023",
  "es2024",
  "es2025",
  "esnext.array",
  "esnext.collection",
  "esnext.disposable",
  "esnext.error",
  "esnext.float16",
  "esnext.iterator",
  "esnext.promise",
  "esnext.typedarrays",
];

/**
 * Gives the programs of each extension that no tsconfig.json includes their own project, checked as the kernel bundles
 * and runs them. VS Code has a single inferred project, with a single set of options, for all loose files of a
 * workspace.
 */
export class ProgramProjects {
  readonly #service: ProjectService;
  readonly #extensions: ExtensionFolders;
  readonly #options: object;
  readonly #roots = new Set<string>();
  readonly #globals: string;

  constructor(
    service: ProjectService,
    parts: {
      readonly typescript: TypeScript;
      readonly host: ServerHost;
      /** The plugin's folder. */
      readonly folder: string;
      readonly extensions: ExtensionFolders;
    },
  ) {
    this.#service = service;
    this.#extensions = parts.extensions;
    this.#options = optionsFor(parts.typescript, parts.host);
    this.#globals = `${parts.folder}/globals/guest.d.ts`;
    const assign = service.assignOrphanScriptInfoToInferredProject?.bind(service);
    if (assign === undefined || service.useInferredProjectPerProjectRoot !== true) return;
    service.assignOrphanScriptInfoToInferredProject = (script, root) =>
      assign(script, this.#orNothing(() => this.#rootFor(script)) ?? root);
    // Deferred, because the file whose project loads the plugin is added to it afterwards.
    parts.host.setImmediate(() => this.#orNothing(() => this.#moveOpenFiles()));
  }

  /** Adds the guest's globals to one of these projects. */
  addGlobals(project: Project): void {
    if (!this.#isOwn(project)) return;
    const own = project.getScriptFileNames.bind(project);
    project.getScriptFileNames = () => [...own(), this.#globals];
  }

  /** The server checks all of a person's programs, so unexpected behaviour of the server must not crash it. */
  #orNothing<Result>(work: () => Result): Result | undefined {
    try {
      return work();
    } catch (error) {
      this.#service.logger?.info?.(`lares-typescript-plugin: ${String(error)}`);
      return undefined;
    }
  }

  #isOwn({ projectKind, projectRootPath }: Project): boolean {
    return projectKind === inferred && projectRootPath !== undefined && this.#roots.has(projectRootPath);
  }

  #rootFor({ fileName }: ScriptInfo): string | undefined {
    const folder = testFile.test(fileName) ? undefined : this.#extensions.of(fileName);
    if (folder === undefined) return undefined;
    const root = this.#service.toCanonicalFileName?.(folder) ?? folder;
    if (this.#roots.has(root)) return root;
    if (this.#roots.size >= maxRoots) return undefined;
    this.#service.setCompilerOptionsForInferredProjects(this.#options, root);
    this.#roots.add(root);
    return root;
  }

  #moveOpenFiles(): void {
    for (const [path, root] of this.#service.openFiles) {
      const script = this.#service.getScriptInfo(path);
      const [project, ...others] = script?.containingProjects ?? [];
      // Files that other projects include stay there.
      if (script === undefined || project === undefined || others.length > 0) continue;
      if (project.projectKind !== inferred || this.#isOwn(project)) continue;
      if (this.#rootFor(script) === undefined) continue;
      project.removeFile(script, true, true);
      this.#service.assignOrphanScriptInfoToInferredProject?.(script, root).refreshDiagnostics();
    }
  }
}

function optionsFor(typescript: TypeScript, host: ServerHost): object {
  const path = typescript.getDefaultLibFilePath({});
  const folder = path.slice(0, Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
  return {
    target: typescript.ScriptTarget.ESNext,
    lib: libraries.map((name) => `lib.${name}.d.ts`).filter((name) => host.fileExists(folder + name)),
    module: typescript.ModuleKind.ESNext,
    moduleResolution: typescript.ModuleResolutionKind.Bundler,
    types: [],
    moduleDetection: typescript.ModuleDetectionKind.Force,
    allowImportingTsExtensions: true,
    allowJs: true,
    resolveJsonModule: true,
    strict: true,
    skipLibCheck: true,
    noEmit: true,
  };
}
