import type { ExtensionFolders } from "./extension-folders.ts";
import type { Project, ProjectService, ScriptInfo, ServerHost, TypeScript } from "./tsserver.ts";

const inferred = 0;
/** Run in Node by `lares test`, so they keep the editor's own options, and find Node's types as any loose file does. */
const testFile = /\.test\.[cm]?[jt]sx?$/;
/** Of extensions whose programs were opened; those of more stay with the workspace's loose files. */
const maxRoots = 500;
/**
 * What of the language the guest's engine has, and neither a browser nor Node. A TypeScript that does not know one of
 * them has it in another or not at all.
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
 * Gives an extension's programs that no tsconfig.json includes a project of their own, checked as the kernel bundles and
 * runs them. VS Code has one inferred project for all loose files of a workspace, and one set of options for it.
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
      /** The plugin's. */
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
    // The file whose project loads the plugin is put into it after this.
    parts.host.setImmediate(() => this.#orNothing(() => this.#moveOpenFiles()));
  }

  /** Adds the guest's globals to a project that is one of these. */
  addGlobals(project: Project): void {
    if (!this.#isOwn(project)) return;
    const own = project.getScriptFileNames.bind(project);
    project.getScriptFileNames = () => [...own(), this.#globals];
  }

  /** The server checks all of a person's programs: what is not as expected here is no reason for it to end. */
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
      // What others include, too, is theirs.
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
