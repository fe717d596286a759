/**
 * `npm run package`: makes `lares-<platform>-<version>.vsix`, in which the kernel travels with the Node that it was
 * tested with. Takes what is installed here, so it is for this platform only; asks a registry for vsce alone, once.
 * `--list` prints every file; `--no-build` packages what was built; `--out` names another file to write.
 * `--schemas-url` says where `schemas/` is served: other tools for TOML in the editor load them from there.
 */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { installNested, packaging } from "../../kernel/build/nested-package.ts";
import { filesIn, piecesOf, sum } from "./archive.ts";
import { layKernel } from "./kernel-folder.ts";
import { notices } from "./notices.ts";
import { tomlValidation } from "./toml-validation.ts";
import { pluginName } from "./typescript-plugin.ts";

const client = fileURLToPath(new URL("../", import.meta.url));
const top = join(client, "..");
const { values: flags } = parseArgs({
  options: {
    target: { type: "string", default: `${process.platform}-${process.arch}` },
    list: { type: "boolean", default: false },
    build: { type: "boolean", default: true },
    out: { type: "string" },
    "schemas-url": { type: "string" },
  },
  allowNegative: true,
});
const target = `${process.platform}-${process.arch}`;
if (flags.target !== target)
  throw new Error(`--target ${flags.target}: npm installed native parts for ${target}; package it there.`);
const schemasUrl = flags["schemas-url"];
const contributedToToml = schemasUrl === undefined ? [] : tomlValidation(schemasUrl);
console.log(
  schemasUrl === undefined
    ? "No --schemas-url: Even Better TOML and Tombi get no schemas from this package."
    : `Even Better TOML and Tombi are sent to ${contributedToToml.map(({ url }) => url).join(" and ")}.`,
);

if (flags.build) {
  for (const script of ["build:guest", "build:sdk", "build:kernel"])
    execFileSync("npm", ["run", "--silent", script], { cwd: top, stdio: "inherit" });
  execFileSync(process.execPath, [join(client, "build", "bundle.ts")], { cwd: client, stdio: "inherit" });
}
/** The used part of `@vscode/vsce`, which only this script installs. */
interface Vsce {
  createVSIX(options: Readonly<Record<string, unknown>>): Promise<void>;
}
const vscePath = installNested(packaging)("@vscode/vsce");
const { createVSIX } = ((await import(pathToFileURL(vscePath).href)) as { default: Vsce }).default;
const vsix = await makePackage();
const files = await filesIn(vsix);
printPieces();
if (flags.list)
  for (const { path, sizeBytes } of files.toSorted(bySize)) console.log(column(sizeBytes), path);

async function makePackage(): Promise<string> {
  const staging = realpathSync(mkdtempSync(join(tmpdir(), "lares-vsix-")));
  try {
    // Development dependencies do not concern a user of the package.
    const {
      scripts: _scripts,
      devDependencies: _tools,
      dependencies: _bundled,
      type: _type,
      private: _private,
      contributes,
      ...description
    } = JSON.parse(readFileSync(join(client, "package.json"), "utf8")) as Record<string, unknown> & {
      contributes: object;
    };
    const contributed =
      schemasUrl === undefined ? contributes : { ...contributes, tomlValidation: contributedToToml };
    writeFileSync(
      join(staging, "package.json"),
      JSON.stringify(
        {
          ...description,
          contributes: contributed,
          files: ["**"],
          // vsce takes of `node_modules` what npm lists as needed.
          dependencies: { [pluginName]: description["version"] },
        },
        null,
        2,
      ),
    );
    cpSync(join(client, "node_modules", pluginName), join(staging, "node_modules", pluginName), {
      recursive: true,
    });
    for (const name of ["package.nls.json", "dist", "media", "README.md", "CHANGELOG.md"])
      if (existsSync(join(client, name)))
        cpSync(join(client, name), join(staging, name), {
          recursive: true,
          filter: (path) => !path.endsWith(".map"),
        });
    cpSync(join(top, "LICENSE"), join(staging, "LICENSE"));
    const beside = await layKernel({
      top,
      folder: join(staging, "kernel"),
      platform: process.platform,
      architecture: process.arch,
    });
    const text = notices({ beside, nodeVersion: process.version });
    writeFileSync(join(staging, "THIRD-PARTY-LICENSES.txt"), text);
    const packagePath = resolve(
      flags.out ?? join(client, `lares-${target}-${String(description["version"])}.vsix`),
    );
    await createVSIX({
      cwd: staging,
      packagePath,
      target,
      dependencies: true,
      useYarn: false,
      allowMissingRepository: true,
      rewriteRelativeLinks: false,
    });
    return packagePath;
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

function printPieces(): void {
  console.log(`\n${vsix}: ${megabytes(statSync(vsix).size)} MB\n`);
  console.log("   in it  installed  files");
  for (const [name, piece] of piecesOf(files)) {
    const sizes = [sum(piece, "compressedBytes"), sum(piece, "sizeBytes")].map((size) => megabytes(size));
    console.log(
      `${sizes[0]?.padStart(8)} ${sizes[1]?.padStart(10)} ${String(piece.length).padStart(6)}  ${name}`,
    );
  }
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

function column(bytes: number): string {
  return String(bytes).padStart(10);
}

function bySize(one: { readonly sizeBytes: number }, other: { readonly sizeBytes: number }): number {
  return other.sizeBytes - one.sizeBytes;
}
