import { execSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const top = fileURLToPath(new URL("../../", import.meta.url));

interface NestedPackage {
  /** Relative to the checkout; contains a `package.json` and its lockfile. */
  readonly folder: string;
  /** Completes the sentence "Installing … into <folder>". */
  readonly contents: string;
  readonly megabytes: number;
}

export const compilers: NestedPackage = {
  folder: "kernel/build/compilers",
  contents: "AssemblyScript and Binaryen, which link guests,",
  megabytes: 115,
};

/** Packages that bundling and packaging the client need in addition to the checkout's own. */
export const packaging: NestedPackage = {
  folder: "vscode-client/build/packaging",
  contents: "vsce, which makes the .vsix, and the grammar of TOML",
  megabytes: 100,
};

/** The runtime of sentence models, for the tests that run one. */
export const modelRuntime: NestedPackage = {
  folder: "test/models",
  contents: "onnxruntime-node, which runs sentence models,",
  megabytes: 290,
};

/** The runtime of language models, without what needs a graphics card, for the tests that run one. */
export const languageModelRuntime: NestedPackage = {
  folder: "test/models/llama",
  contents: "node-llama-cpp, which runs language models,",
  megabytes: 115,
};

/** The language servers with which `test/schemas/` and `test/vsix/` check the schemas. */
export const schemaServers: NestedPackage = {
  folder: "test/schemas/servers",
  contents: "yaml-language-server, Taplo and Tombi",
  megabytes: 65,
};

/** `test/suites/sdk-types.test.ts` makes schemas of requests from their types; `aimock.test.ts` uses the imitated providers. */
export const providerTypes: NestedPackage = {
  folder: "test/suites/providers",
  contents:
    "the SDKs of Anthropic and Google, a generator of JSON Schemas, and aimock, which imitates providers,",
  megabytes: 100,
};

/** The package with which `test/support/lsp/generate.ts` reads the LSP's types. */
export const lspGenerator: NestedPackage = {
  folder: "test/support/lsp/generator",
  contents: "the LSP's types and a generator of JSON Schemas",
  megabytes: 30,
};

/**
 * Installs a nested package with npm, unless exactly the lockfile's content is already installed, and prints that.
 * Returns a `require.resolve` that starts in its folder. npm verifies each download against the lockfile and runs
 * no scripts.
 */
export function installNested({ folder, contents, megabytes }: NestedPackage): NodeJS.RequireResolve {
  const cwd = join(top, folder);
  const lockfile = readFileSync(join(cwd, "package-lock.json"));
  const wanted = createHash("sha256").update(lockfile).digest("hex");
  const stampFile = join(cwd, "node_modules", ".installed");
  if (readStamp(stampFile) !== wanted) {
    // To stderr, because the stdout of some scripts is parsed.
    process.stderr.write(`Installing ${contents} into ${folder} (about ${megabytes} MB, once).\n`);
    try {
      // Through a shell, because on Windows npm is a script.
      execSync("npm ci --ignore-scripts --no-audit --no-fund", {
        cwd,
        stdio: ["ignore", process.stderr, process.stderr],
      });
    } catch (error) {
      throw new Error(`npm could not install ${relative(top, cwd)}; run "npm ci" in that folder.`, {
        cause: error,
      });
    }
    // npm removes `node_modules` first, so an interrupted installation leaves no stamp.
    writeFileSync(stampFile, wanted);
  }
  return createRequire(join(cwd, "package.json")).resolve;
}

function readStamp(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
