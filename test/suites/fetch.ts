/** Fetches the public test suites: `npm run suites:fetch`. */
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { installNested, providerTypes } from "../../kernel/build/nested-package.ts";
import { folderOf, suites, suitesFolder } from "./support/suites.ts";

function git(folder: string, ...args: readonly string[]): void {
  const { status } = spawnSync("git", ["-C", folder, ...args], { stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) throw new Error(`git ${args.join(" ")} failed.`);
}

for (const suite of Object.values(suites)) {
  if (folderOf(suite) !== null) continue;
  const folder = join(suitesFolder, suite.name);
  try {
    mkdirSync(folder, { recursive: true });
    git(folder, "init", "--quiet");
    git(folder, "fetch", "--quiet", "--depth", "1", suite.repository, suite.commit);
    git(folder, "checkout", "--quiet", "FETCH_HEAD");
    process.stdout.write(`${suite.name}: ${folder}\n`);
  } catch (error) {
    process.stderr.write(`${suite.name} cannot be fetched from ${suite.repository}: ${String(error)}\n`);
    process.exitCode = 1;
  }
}

try {
  installNested(providerTypes);
} catch (error) {
  process.stderr.write(`${String(error)}\n`);
  process.exitCode = 1;
}
