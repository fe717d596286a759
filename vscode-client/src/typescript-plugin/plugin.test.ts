import { beforeEach, describe, expect, it, vi } from "vitest";
import { createPlugin } from "./plugin.ts";
import type { ModuleResolution, Project, ProjectService, ScriptInfo } from "./tsserver.ts";

const typescript = {
  ScriptTarget: { ESNext: 99 },
  ModuleKind: { ESNext: 99 },
  ModuleResolutionKind: { Bundler: 100 },
  ModuleDetectionKind: { Force: 3 },
  Extension: { Dts: ".d.ts" },
  getDefaultLibFilePath: () => "/ts/lib/lib.d.ts",
};
const manifest = "extension:\n  id: local.photo\n";
const files = new Map([
  ["/w/photo/extension.yaml", manifest],
  ["/ts/lib/lib.es2023.d.ts", ""],
]);
const inferred = 0;
const configured = 1;

/** As much of TypeScript's server as a plugin sees: projects by root, of files that are open. */
class Server implements ProjectService {
  readonly openFiles = new Map<string, string>();
  readonly useInferredProjectPerProjectRoot: boolean;
  readonly projects: FakeProject[] = [];
  readonly setCompilerOptionsForInferredProjects = vi.fn<(options: object, root: string) => void>();
  readonly #scripts = new Map<string, FakeScript>();
  readonly #plugin = createPlugin(typescript, "/plugin");
  #waiting: (() => void)[] = [];

  constructor(useInferredProjectPerProjectRoot = true) {
    this.useInferredProjectPerProjectRoot = useInferredProjectPerProjectRoot;
  }

  getScriptInfo(path: string): ScriptInfo | undefined {
    return this.#scripts.get(path);
  }

  assignOrphanScriptInfoToInferredProject(script: ScriptInfo, root: string | undefined): Project {
    const known = this.projects.find(
      (each) => each.projectKind === inferred && each.projectRootPath === root,
    );
    const project = known ?? this.load(inferred, root);
    project.add(script as FakeScript);
    return project;
  }

  /** A project is made, and loads its plugins before it has files. */
  load(kind: number, root?: string): FakeProject {
    const project = new FakeProject(this, kind, root);
    this.projects.push(project);
    const host = {
      fileExists: (path: string) => files.has(path),
      readFile: (path: string) => files.get(path),
      setImmediate: (run: () => void) => this.#waiting.push(run),
    };
    this.#plugin.create({ project, serverHost: host, languageService: {} });
    return project;
  }

  open(path: string, within?: FakeProject): FakeScript {
    const script = new FakeScript(path);
    this.#scripts.set(path, script);
    this.openFiles.set(path, "/w");
    if (within === undefined) this.assignOrphanScriptInfoToInferredProject(script, "/w");
    else within.add(script);
    return script;
  }

  /** What was put off until the message at hand was answered. */
  settle(): void {
    const due = this.#waiting;
    this.#waiting = [];
    for (const run of due) run();
  }
}

class FakeScript implements ScriptInfo {
  readonly fileName: string;
  readonly containingProjects: FakeProject[] = [];

  constructor(fileName: string) {
    this.fileName = fileName;
  }

  get roots(): unknown[] {
    return this.containingProjects.map(({ projectRootPath }) => projectRootPath);
  }
}

class FakeProject implements Project {
  readonly projectService: ProjectService;
  readonly projectKind: number;
  readonly projectRootPath: string | undefined;
  readonly refreshDiagnostics = vi.fn<() => void>();
  readonly #scripts = new Set<FakeScript>();

  constructor(service: ProjectService, kind: number, root: string | undefined) {
    this.projectService = service;
    this.projectKind = kind;
    this.projectRootPath = root;
  }

  add(script: FakeScript): void {
    this.#scripts.add(script);
    script.containingProjects.push(this);
  }

  removeFile(script: ScriptInfo): void {
    const found = script as FakeScript;
    this.#scripts.delete(found);
    found.containingProjects.splice(found.containingProjects.indexOf(this), 1);
  }

  getScriptFileNames(): string[] {
    return [...this.#scripts].map(({ fileName }) => fileName);
  }

  /** It finds what is installed. */
  resolveModuleNameLiterals(literals: readonly { readonly text: string }[]): readonly ModuleResolution[] {
    return literals.map(({ text }) =>
      text.startsWith("installed")
        ? {
            resolvedModule: {
              resolvedFileName: `/w/${text}`,
              extension: ".ts",
              isExternalLibraryImport: true,
            },
          }
        : {},
    );
  }
}

function resolvedIn(project: Project, text: string, from: string): string | undefined {
  return project.resolveModuleNameLiterals?.([{ text }], from)[0]?.resolvedModule?.resolvedFileName;
}

describe("an import", () => {
  it.each([
    ["@lares/sdk", "/w/photo/agent.ts", "/plugin/sdk/index.d.ts"],
    ["@lares/sdk/testing", "/w/photo/test/agent.test.ts", "/plugin/sdk/testing/index.d.ts"],
    ["@lares/sdk/src/guest/host.ts", "/w/photo/agent.ts", undefined],
    ["@lares/sdk", "/w/loose.ts", undefined],
    ["vitest", "/w/photo/agent.test.ts", undefined],
    ["installed", "/w/photo/agent.ts", "/w/installed"],
  ])("of %s in %s is %s", (text, from, path) => {
    for (const kind of [inferred, configured])
      expect(resolvedIn(new Server().load(kind), text, from)).toBe(path);
  });

  it("of an SDK that the project finds itself stays the project's", () => {
    const project = new Server().load(configured);
    const own = { resolvedFileName: "/w/sdk.ts", extension: ".ts", isExternalLibraryImport: false };
    const other = new FakeProject(new Server(), configured, undefined);
    other.resolveModuleNameLiterals = () => [{ resolvedModule: own }];
    createPlugin(typescript, "/plugin").create({
      project: other,
      serverHost: { fileExists: () => true, readFile: () => manifest, setImmediate: () => undefined },
      languageService: {},
    });
    expect(resolvedIn(other, "@lares/sdk", "/w/photo/agent.ts")).toBe("/w/sdk.ts");
    expect(resolvedIn(project, "@lares/sdk", "/w/photo/agent.ts")).toBe("/plugin/sdk/index.d.ts");
  });
});

describe("an open file of no tsconfig.json", () => {
  let server: Server;
  beforeEach(() => {
    server = new Server();
  });

  it("is in a project of its extension, with the guest's globals and the libraries of this TypeScript", () => {
    server.open("/w/loose.ts");
    server.settle();
    const script = server.open("/w/photo/agent.ts");
    expect(script.roots).toEqual(["/w/photo"]);
    expect(server.setCompilerOptionsForInferredProjects.mock.calls).toEqual([
      [expect.objectContaining({ lib: ["lib.es2023.d.ts"], strict: true, noEmit: true }), "/w/photo"],
    ]);
    expect(script.containingProjects[0]?.getScriptFileNames()).toEqual([
      "/w/photo/agent.ts",
      "/plugin/globals/guest.d.ts",
    ]);
    expect(server.open("/w/photo/exif.ts").containingProjects).toEqual(script.containingProjects);
  });

  it("stays where it was in an unexpected server, which keeps working", () => {
    server.setCompilerOptionsForInferredProjects.mockImplementation(() => {
      throw new Error("no such thing");
    });
    const first = server.open("/w/photo/agent.ts");
    server.settle();
    const second = server.open("/w/photo/exif.ts");
    expect([first.roots, second.roots]).toEqual([["/w"], ["/w"]]);
  });

  it("is moved there if the plugin was loaded for it, and the editor is notified", () => {
    const script = server.open("/w/photo/agent.ts");
    expect(script.roots).toEqual(["/w"]);
    server.settle();
    expect(script.roots).toEqual(["/w/photo"]);
    expect(script.containingProjects[0]?.refreshDiagnostics).toHaveBeenCalledOnce();
    expect(server.projects.map((each) => each.getScriptFileNames())).toEqual([
      [],
      ["/w/photo/agent.ts", "/plugin/globals/guest.d.ts"],
    ]);
  });

  it("stays where it is outside extensions", () => {
    const first = server.open("/w/loose.ts");
    server.settle();
    const second = server.open("/w/other/loose.ts");
    expect([...first.roots, ...second.roots]).toEqual(["/w", "/w"]);
    expect(server.projects[0]?.getScriptFileNames()).toEqual(["/w/loose.ts", "/w/other/loose.ts"]);
    expect(server.setCompilerOptionsForInferredProjects).not.toHaveBeenCalled();
  });

  it("stays where it is as a test, which runs in Node", () => {
    const first = server.open("/w/photo/agent.test.ts");
    server.settle();
    expect([...first.roots, ...server.open("/w/photo/test/exif.test.mts").roots]).toEqual(["/w", "/w"]);
    expect(resolvedIn(first.containingProjects[0] as Project, "@lares/sdk/testing", first.fileName)).toBe(
      "/plugin/sdk/testing/index.d.ts",
    );
  });

  it("stays where another project includes it, too", () => {
    const script = server.open("/w/photo/agent.ts");
    server.load(configured).add(script);
    server.settle();
    expect(script.roots).toEqual(["/w", undefined]);
  });

  it("stays with a server that has one project for all", () => {
    const single = new Server(false);
    const script = single.open("/w/photo/agent.ts");
    single.settle();
    expect(script.roots).toEqual(["/w"]);
    expect(resolvedIn(script.containingProjects[0] as Project, "@lares/sdk", "/w/photo/agent.ts")).toBe(
      "/plugin/sdk/index.d.ts",
    );
  });
});

it("a program that a tsconfig.json includes keeps its project and its options", () => {
  const server = new Server();
  const project = server.load(configured);
  const script = server.open("/w/photo/agent.ts", project);
  server.settle();
  expect(script.containingProjects).toEqual([project]);
  expect(project.getScriptFileNames()).toEqual(["/w/photo/agent.ts"]);
  expect(server.setCompilerOptionsForInferredProjects).not.toHaveBeenCalled();
});
