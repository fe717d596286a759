import type { BuildOptions, BuildResult, Loader, Message, Plugin } from "esbuild";
import { messageOf } from "../../base/errors.ts";
import type { Hash } from "../../base/vocabulary/common.ts";
import { sha256 } from "../../platform/files/hash.ts";
import { openProgramFolder, type ProgramFolder } from "../../platform/files/program-files.ts";
import {
  maxErrors,
  maxFileBytes,
  maxProgramBytes,
  maxProgramFiles,
  maxRemembered,
  maxRememberedBytes,
} from "./bounds.ts";
import { compileWith } from "./compiler.ts";
import { ownPositions } from "./positions.ts";
import { type Folders, type ProgramFile, Resolver } from "./resolver.ts";
import { BuildInputs } from "./build-inputs.ts";
import type { BundleCache } from "./bundle-cache.ts";
import type { BundledFile, BundledProgram } from "./bundled-program.ts";
import { type Sdk, SdkFolder } from "./sdk-modules.ts";

/** Line and column count from 1; the file is relative to the extension. */
export interface BundleError {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

export type BundleResult =
  | { readonly ok: true; readonly program: BundledProgram }
  | { readonly ok: false; readonly errors: readonly BundleError[] };

export type PackagedSource =
  | { readonly ok: true; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly errors: readonly BundleError[] };

const loaders: Record<string, Loader> = {
  ts: "ts",
  mts: "ts",
  cts: "ts",
  tsx: "tsx",
  js: "js",
  mjs: "js",
  cjs: "js",
  jsx: "jsx",
  json: "json",
  txt: "text",
};

interface Made {
  readonly program: BuildInputs;
  readonly sdk: Sdk;
  readonly result: BundleResult;
}

interface BundlerOptions {
  /** The SDK's files do not change while this process runs. */
  readonly isSdkFixed?: boolean;
  /** The number of programs whose bundles are cached in memory. */
  readonly remembered?: number;
  readonly cache?: BundleCache | undefined;
}

/**
 * Bundles extensions' programs, and caches the result as long as the inputs are unchanged. `sdk` is the folder of the
 * `@lares/sdk` package.
 */
export class Bundler {
  readonly #sdk: SdkFolder;
  readonly #made = new Map<string, Made>();
  readonly #maxRemembered: number;
  readonly #cache: BundleCache | undefined;

  constructor(sdk: string, { isSdkFixed = false, remembered = maxRemembered, cache }: BundlerOptions = {}) {
    this.#cache = cache;
    this.#sdk = new SdkFolder(sdk, isSdkFixed, bundleSdkModule);
    this.#maxRemembered = remembered;
  }

  /**
   * `folder` is the extension's folder, `main` the program in it (relative). Reads only files whose real path lies in
   * this folder or in the SDK's.
   */
  async bundle(folder: string, main: string): Promise<BundleResult> {
    try {
      using program = await openProgramFolder(folder);
      const sdk = await this.#sdk.current();
      const key = JSON.stringify([program.root, main]);
      const before = this.#made.get(key) ?? (await this.#stored(key, program, sdk));
      this.#made.delete(key);
      const isStill = before?.sdk === sdk && (await before.program.holdsFor(program));
      const made = isStill ? before : await make(program, sdk, main);
      if (!isStill) this.#store(key, made);
      if (made.result.ok) this.#made.set(key, made);
      this.#forget();
      return made.result;
    } catch (error) {
      return { ok: false, errors: [{ file: main, line: 1, column: 1, message: messageOf(error) }] };
    }
  }

  /**
   * Bundles a program into one source file for a package: an ECMAScript module with the exports of `main`, in which everything
   * but the SDK is inlined. The same bytes wherever the folder lies.
   */
  async bundleForPackage(folder: string, main: string): Promise<PackagedSource> {
    using program = await openProgramFolder(folder);
    const folders = { program, sdk: (await this.#sdk.current()).files };
    const resolver = new Resolver(folders, nothing);
    const result = await run(
      { entryPoints: [entryOf(main)] },
      [boundary(resolver, folders, nothing, nothing, { keepsSdk: true })],
      { sourcemap: false, legalComments: "inline" },
    );
    const [output] = result.outputFiles;
    if (result.errors.length > 0 || output === undefined)
      return { ok: false, errors: result.errors.slice(0, maxErrors).map((error) => located(error, main)) };
    return { ok: true, bytes: output.contents };
  }

  async #stored(key: string, folder: ProgramFolder, sdk: Sdk): Promise<Made | undefined> {
    const stored = await this.#cache?.read(key);
    if (stored === undefined || stored === null || !(await sdk.holds(stored.answers.sdk))) return undefined;
    const program = new BuildInputs(folder, stored.answers.program);
    return { program, sdk, result: { ok: true, program: stored.program } };
  }

  /** In the background: the program is not needed there before the next start. */
  #store(key: string, { program, sdk, result }: Made): void {
    const answers = { program: program.answers, sdk: sdk.files.answers };
    if (!result.ok || answers.program === null || answers.sdk === null) return;
    void this.#cache?.write(key, {
      program: result.program,
      answers: { program: answers.program, sdk: answers.sdk },
    });
  }

  #forget(): void {
    let bytes = 0;
    for (const [index, [key, { result }]] of [...this.#made].toReversed().entries()) {
      if (result.ok) bytes += result.program.bytes.length + result.program.sourceMap.length;
      if (index >= this.#maxRemembered || bytes > maxRememberedBytes) this.#made.delete(key);
    }
  }
}

async function make(folder: ProgramFolder, sdk: Sdk, main: string): Promise<Made> {
  const program = new BuildInputs(folder);
  return { program, sdk, result: await bundle(program, sdk, main) };
}

async function bundleSdkModule(sdk: ProgramFolder, path: string): Promise<Uint8Array> {
  const folders = { program: sdk, sdk };
  const result = await run(
    { entryPoints: [path] },
    [boundary(new Resolver(folders, nothing), folders, nothing, nothing, { isSdk: true })],
    { sourcemap: "inline", legalComments: "none" },
  );
  const [output] = result.outputFiles;
  if (result.errors.length > 0 || output === undefined)
    throw new Error(`@lares/sdk cannot be bundled: ${result.errors[0]?.text ?? "there is no output"}.`);
  return output.contents;
}

async function bundle(program: BuildInputs, sdk: Sdk, main: string): Promise<BundleResult> {
  const folders = { program, sdk: sdk.files };
  const inputs = new Map<string, Hash>();
  const note = (file: ProgramFile, bytes: Uint8Array): void => {
    if (file.from === "program") inputs.set(file.path, sha256(bytes));
  };
  const files = new Map<string, BundledFile>();
  const resolver = new Resolver(folders, note);
  const took = (path: string, contents: Uint8Array, isData: boolean): void =>
    void files.set(path, { path, bytes: contents.length, hash: sha256(contents), isData });
  const stdin = {
    contents: `import { serveAgent } from "@lares/sdk";\nimport * as program from ${JSON.stringify(entryOf(main))};\nserveAgent(program);\n`,
    sourcefile: "entry:",
    loader: "js",
  } as const;
  const result = await run({ stdin }, [boundary(resolver, folders, note, took, { sdk })], {
    sourcemap: "external",
    legalComments: "none",
  });
  if (result.errors.length > 0) {
    return { ok: false, errors: result.errors.slice(0, maxErrors).map((error) => located(error, main)) };
  }
  const [map, code] = ["/program.js.map", "/program.js"].map((end) =>
    result.outputFiles.find((file) => file.path.replaceAll("\\", "/").endsWith(end)),
  );
  if (map === undefined || code === undefined) throw new Error("The bundler returned no output.");
  const bytes = code.contents;
  if (bytes.length > maxProgramBytes) {
    throw new Error(
      `The program is ${bytes.length} bytes when bundled; at most ${maxProgramBytes} can be loaded.`,
    );
  }
  const sorted = [...inputs].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([path, hash]) => ({ path, hash }));
  const sourceMap = ownPositions(map.text, code.text);
  return {
    ok: true,
    program: {
      kind: "javascript",
      digest: sha256(bytes),
      bytes,
      sourceMap,
      inputs: sorted,
      files: [...files.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    },
  };
}

type Result = Pick<BuildResult<{ write: false }>, "errors" | "outputFiles">;

const entryOf = (main: string): string => `./${main}`;
const nothing = (): void => undefined;

async function run(
  entry: Pick<BuildOptions, "stdin" | "entryPoints">,
  plugins: Plugin[],
  output: Pick<BuildOptions, "sourcemap" | "legalComments">,
): Promise<Result> {
  const options = {
    ...entry,
    ...output,
    bundle: true,
    write: false,
    outfile: "/program.js",
    format: "esm",
    platform: "neutral",
    target: "es2023",
    sourcesContent: false,
    logLevel: "silent",
    logLimit: maxErrors,
    // Prevents esbuild from looking for a tsconfig.json. With verbatim syntax, unused imports are checked, too.
    tsconfigRaw: { compilerOptions: { useDefineForClassFields: true, verbatimModuleSyntax: true } },
    plugins,
  } as const satisfies BuildOptions;
  try {
    return await compileWith(({ build }) => build(options));
  } catch (error) {
    if (isBuildFailure(error)) return { errors: error.errors, outputFiles: [] };
    throw error;
  }
}

/** Routes every import through the resolver and every file through its folder: esbuild itself reads nothing. */
function boundary(
  resolver: Resolver,
  folders: Folders,
  note: (file: ProgramFile, bytes: Uint8Array) => void,
  took: (path: string, contents: Uint8Array, isData: boolean) => void,
  {
    keepsSdk = false,
    isSdk = false,
    sdk,
  }: { readonly keepsSdk?: boolean; readonly isSdk?: boolean; readonly sdk?: Sdk } = {},
): Plugin {
  return {
    name: "boundary",
    setup(build) {
      let files = 0;
      build.onResolve({ filter: /.*/ }, async ({ path, importer, namespace, kind }) => {
        const from = namespace === "sdk" ? "sdk" : "program";
        if (isSdk && kind === "entry-point") return { path, namespace: "sdk" };
        try {
          const found = await resolver.resolve(path, {
            from,
            path: namespace === "" || kind === "entry-point" ? "." : importer,
          });
          if ("error" in found) return { errors: [{ text: found.error }] };
          // The kernel provides the SDK.
          if (keepsSdk && found.from === "sdk") return { path, external: true };
          return { path: found.path, namespace: found.from };
        } catch (error) {
          return { errors: [{ text: `Cannot import "${path}": ${messageOf(error)}` }] };
        }
      });
      build.onLoad({ filter: /.*/ }, async ({ path, namespace }) => {
        const file: ProgramFile = { from: namespace === "sdk" ? "sdk" : "program", path };
        const ending = path.slice(path.lastIndexOf(".") + 1).toLowerCase();
        const loader = loaders[ending];
        if (loader === undefined)
          return fault(`Files with the ending ".${ending}" cannot be part of a program: ${path}.`);
        if (++files > maxProgramFiles) return fault(`The program has more than ${maxProgramFiles} files.`);
        try {
          // Its own sources are bundled once for all programs.
          if (file.from === "sdk" && loader === "ts" && sdk !== undefined)
            return { contents: await sdk.module(path), loader: "js" };
          const contents = await folders[file.from].read(path, maxFileBytes);
          note(file, contents);
          const isData = loader === "json" || loader === "text";
          if (file.from === "program") took(path, contents, isData);
          return { contents: isData ? contents : withoutSourceMap(contents), loader };
        } catch (error) {
          return fault(messageOf(error));
        }
      });
    },
  };
}

/**
 * esbuild would read the source map that a `sourceMappingURL` names, wherever it is. Only the last such comment
 * counts, so a comment with an empty map is appended.
 */
const noSourceMap = new TextEncoder().encode("\n//# sourceMappingURL=data:application/json,{}");

function withoutSourceMap(contents: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(contents.length + noSourceMap.length);
  bytes.set(contents);
  bytes.set(noSourceMap, contents.length);
  return bytes;
}

const fault = (text: string): { errors: { text: string }[] } => ({ errors: [{ text }] });

function isBuildFailure(error: unknown): error is { errors: Message[] } {
  return error instanceof Error && "errors" in error && Array.isArray(error.errors);
}

function located({ text, location }: Message, main: string): BundleError {
  if (location === null || location.file.startsWith("entry:"))
    return { file: main, line: 1, column: 1, message: text };
  // esbuild counts columns in UTF-8 bytes, from 0.
  const before = new TextEncoder().encode(location.lineText).subarray(0, location.column);
  const column = new TextDecoder().decode(before).length + 1;
  return {
    file: location.file.replace(/^program:/, "").replace(/^sdk:/, "@lares/sdk/"),
    line: location.line,
    column,
    message: text,
  };
}
