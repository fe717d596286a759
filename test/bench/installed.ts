import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const repository = fileURLToPath(new URL("../../", import.meta.url));

/**
 * The kernel as a package has it, compiled and beneath a `node_modules`; the dependencies are the checkout's.
 * Answers the path of its executable.
 */
export function installBuilt(folder: string): string {
  const modules = join(folder, "node_modules");
  const installed = join(modules, "lares");
  mkdirSync(installed, { recursive: true });
  const kernel = join(repository, "kernel");
  const compiler = join(
    dirname(createRequire(import.meta.url).resolve("typescript/package.json")),
    "bin/tsc",
  );
  const config = join(kernel, "tsconfig.build.json");
  execFileSync(process.execPath, [compiler, "-p", config, "--noCheck", "--outDir", join(installed, "dist")]);
  for (const part of ["bin", "package.json", "build-output"])
    cpSync(join(kernel, part), join(installed, part), { recursive: true });
  for (const part of ["manifests", "extensions"]) {
    cpSync(join(repository, part), join(installed, "dist", "resources", part), {
      recursive: true,
      filter: (path) => !path.includes("node_modules"),
    });
  }
  for (const name of readdirSync(join(repository, "node_modules"))) {
    if (name !== "lares" && !name.startsWith(".")) {
      const target = join(repository, "node_modules", name);
      if (existsSync(target)) symlinkSync(target, join(modules, name));
    }
  }
  return join(installed, "bin", "lares.js");
}
