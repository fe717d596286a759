/**
 * The part of TypeScript's server that the plugin uses. Declared here because this project's own compiler, TypeScript
 * 7, has neither that server nor its declarations. Members with `?` are not guaranteed by any version; without them the
 * plugin does less.
 */
export interface TypeScript {
  readonly ScriptTarget: { readonly ESNext: number };
  readonly ModuleKind: { readonly ESNext: number };
  readonly ModuleResolutionKind: { readonly Bundler?: number };
  readonly ModuleDetectionKind: { readonly Force?: number };
  readonly Extension: { readonly Dts: string };
  getDefaultLibFilePath(options: object): string;
}

/** Paths are absolute, with "/", on every platform. */
export interface ServerHost {
  fileExists(path: string): boolean;
  readFile(path: string): string | undefined;
  getFileSize?(path: string): number;
  setImmediate(run: () => void): unknown;
}

export interface ScriptInfo {
  readonly fileName: string;
  /** A file is checked in the first one. */
  readonly containingProjects: readonly Project[];
}

export interface ModuleResolution {
  readonly resolvedModule?: {
    readonly resolvedFileName: string;
    readonly extension: string;
    readonly isExternalLibraryImport: boolean;
  };
}

type ResolveModules = (
  literals: readonly { readonly text: string }[],
  containingFile: string,
  ...rest: readonly unknown[]
) => readonly ModuleResolution[];

/** Also serves as the language service's host. */
export interface Project {
  /** 0: a project without a tsconfig.json. */
  readonly projectKind: number;
  /** Only for an inferred project; canonical. */
  readonly projectRootPath?: string | undefined;
  readonly projectService: ProjectService;
  getScriptFileNames(): string[];
  resolveModuleNameLiterals?: ResolveModules;
  removeFile(script: ScriptInfo, fileExists: boolean, detachFromProject: boolean): void;
  refreshDiagnostics(): void;
}

export interface ProjectService {
  /** By path, with the workspace folder of each. */
  readonly openFiles: ReadonlyMap<string, string | undefined>;
  readonly useInferredProjectPerProjectRoot?: boolean;
  readonly logger?: { info?(line: string): void };
  toCanonicalFileName?(path: string): string;
  getScriptInfo(path: string): ScriptInfo | undefined;
  setCompilerOptionsForInferredProjects(options: object, projectRootPath: string): void;
  /** Moves an open file without a tsconfig.json to the inferred project of a root, which is created if missing. */
  assignOrphanScriptInfoToInferredProject?(script: ScriptInfo, projectRootPath: string | undefined): Project;
}

export interface PluginCreateInfo<LanguageService> {
  readonly languageService: LanguageService;
  readonly project: Project;
  readonly serverHost: ServerHost;
}
