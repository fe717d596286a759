import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const repository = fileURLToPath(new URL("../../", import.meta.url));
const folders = { lares: "kernel", "@lares/sdk": "extensions/sdk" } as const;

export type PackageName = keyof typeof folders;

/** The result of `npm pack` for a workspace of this repository. */
export interface Tarball {
  readonly name: PackageName;
  readonly path: string;
  /** Relative to the package. */
  readonly files: readonly string[];
}

/** Builds and packs as for publishing; the tarballs are in `folder` afterwards. */
export function pack(folder: string, names: readonly PackageName[]): Tarball[] {
  mkdirSync(folder, { recursive: true });
  const workspaces = names.flatMap((name) => ["--workspace", folders[name]]);
  const output = execFileSync("npm", ["pack", "--json", ...workspaces, "--pack-destination", folder], {
    cwd: repository,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    shell: process.platform === "win32",
    maxBuffer: 16 * 1024 * 1024,
  });
  // The build's output comes before it.
  const packed = JSON.parse(output.slice(output.search(/^\[$/m))) as {
    name: PackageName;
    filename: string;
    files: { path: string }[];
  }[];
  return packed.map(({ name, filename, files }) => ({
    name,
    path: join(folder, filename),
    files: files.map(({ path }) => path).toSorted(),
  }));
}

/**
 * Puts packed packages beneath `project/node_modules` without a registry: their dependencies are the checkout's, and
 * nothing else can be found. `further` names more of the checkout's packages.
 */
export function unpack(
  project: string,
  tarballs: readonly Tarball[],
  further: readonly string[] = [],
): Record<PackageName, string> {
  const modules = join(project, "node_modules");
  const linked = new Set(further);
  for (const { name, path } of tarballs) {
    const target = join(modules, name);
    mkdirSync(target, { recursive: true });
    execFileSync("tar", ["-xzf", path, "--strip-components=1", "-C", target]);
    const { dependencies = {} } = JSON.parse(readFileSync(join(target, "package.json"), "utf8")) as {
      dependencies?: Record<string, string>;
    };
    for (const dependency of Object.keys(dependencies)) linked.add(dependency);
  }
  for (const name of linked) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(repository, "node_modules", name), join(modules, name), "junction");
  }
  return { lares: join(modules, "lares"), "@lares/sdk": join(modules, "@lares/sdk") };
}

/** The executable in an installed package `lares`. */
export function executableOf(installed: Record<PackageName, string>): string {
  return join(installed.lares, "bin", "lares.js");
}

/** Returns the path of the executable of the kernel as a compiled package beneath a `node_modules` of `folder`. */
export function installBuilt(folder: string): string {
  const tarballs = mkdtempSync(join(folder, "tarballs-"));
  try {
    return executableOf(unpack(folder, pack(tarballs, ["lares"])));
  } finally {
    rmSync(tarballs, { recursive: true, force: true });
  }
}
