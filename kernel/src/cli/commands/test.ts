import { spawn } from "node:child_process";
import { glob, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { systemCode } from "../../base/errors.ts";
import { manifestNames } from "../../documents/names.ts";
import { exitCodes, folderNamed, UsageError, type CommandContext } from "../command.ts";
import { renderFinding } from "../render/findings.ts";
import { oneLine } from "../render/foreign.ts";

/**
 * The SDK's files: the sources in a checkout, the built files in a package, because Node does not run TypeScript from
 * there.
 */
const sdkModules = {
  sources: { "@lares/sdk": "src/index.ts", "@lares/sdk/testing": "src/testing/index.ts" },
  built: { "@lares/sdk": "dist/index.js", "@lares/sdk/testing": "dist/testing.js" },
} as const;
/** A test that starts a kernel takes seconds on a busy machine. */
const testTimeoutMs = 60_000;

/** Checks an extension's manifest and program, and runs its `*.test.ts` with Vitest. */
export async function testExtension(context: CommandContext, name: string): Promise<number> {
  const { ports, terminal } = context;
  const { style } = terminal.surface;
  const folder = await folderNamed(name);
  const manifest = await manifestIn(folder);
  if (manifest === null)
    throw new UsageError(
      `${name} is not an extension, because it contains no ${manifestNames.join(" or ")}. Name the folder of an extension.`,
    );

  const findings = await ports.checkDocument(join(folder, manifest));
  const near = relative(process.cwd(), folder);
  for (const finding of findings) {
    const file = near.startsWith("..") ? finding.file : join(near, manifest);
    terminal.print(renderFinding({ ...finding, file }, terminal.surface));
  }
  if (findings.some(({ severity }) => severity === "error")) return exitCodes.failed;
  terminal.print(`${style.green("✓")} ${manifest}`);

  const fault = await terminal.progress("bundling", ports.programFault(folder));
  if (fault !== null) {
    terminal.print(`${style.red("✗")} program: ${oneLine(fault)}`);
    return exitCodes.failed;
  }
  terminal.print(`${style.green("✓")} it can be loaded`);

  const tests = await testsIn(folder);
  if (tests === 0) {
    terminal.warn("The folder contains no *.test.ts, so no tests were run.");
    return exitCodes.ok;
  }
  const vitest = await findVitest(folder);
  if (vitest === null) {
    terminal.warn([
      `${style.red("error")} Its tests need Vitest, which is not installed. In its folder, or one above it:`,
      "    npm install --save-dev vitest",
    ]);
    return exitCodes.failed;
  }
  return runVitest(vitest, folder, ports.sdkFolder, style.green("a") !== "a");
}

async function manifestIn(folder: string): Promise<string | null> {
  for (const name of manifestNames) if (await exists(join(folder, name))) return name;
  return null;
}

async function testsIn(folder: string): Promise<number> {
  let count = 0;
  const isForeign = ({ name }: { readonly name: string }): boolean => name === "node_modules";
  for await (const _ of glob("**/*.test.ts", { cwd: folder, withFileTypes: true, exclude: isForeign }))
    count += 1;
  return count;
}

/** Finds Vitest's executable as the extension would resolve it, otherwise as Lares itself does. */
async function findVitest(folder: string): Promise<string | null> {
  for (const place of [join(folder, "extension.yaml"), import.meta.url]) {
    try {
      const manifest = createRequire(place).resolve("vitest/package.json");
      const { bin } = JSON.parse(await readFile(manifest, "utf8")) as { bin: { vitest: string } };
      return join(dirname(manifest), bin.vitest);
    } catch (error) {
      if (systemCode(error) !== "MODULE_NOT_FOUND") throw error;
    }
  }
  return null;
}

async function runVitest(vitest: string, folder: string, sdk: string, isColoured: boolean): Promise<number> {
  const own = await Promise.all(
    ["ts", "mts", "js", "mjs"].map((ending) => exists(join(folder, `vitest.config.${ending}`))),
  );
  const temporary = await mkdtemp(join(tmpdir(), "lares-vitest-"));
  try {
    const configuration = join(temporary, "vitest.config.mjs");
    await writeFile(configuration, await configurationFor(folder, sdk, temporary));
    const chosen = own.includes(true) ? [] : ["--config", configuration];
    return await runToEnd(folder, [vitest, "run", "--root", folder, ...chosen], isColoured);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** The SDK is the one with which the kernel bundles programs; Vitest's cache stays outside the extension's folder. */
async function configurationFor(folder: string, sdk: string, temporary: string): Promise<string> {
  const modules = (await exists(join(sdk, sdkModules.sources["@lares/sdk/testing"])))
    ? sdkModules.sources
    : sdkModules.built;
  const alias = Object.entries(modules).map(([name, file]) => {
    const replacement = JSON.stringify(join(sdk, file));
    return `{ find: /^${name.replaceAll("/", "\\/")}$/, replacement: ${replacement} }`;
  });
  const cache = JSON.stringify(join(temporary, "cache"));
  return `export default {
  root: ${JSON.stringify(folder)},
  cacheDir: ${cache},
  resolve: { alias: [${alias.join(", ")}] },
  test: {
    include: ["**/*.test.ts"],
    fsModuleCache: false,
    testTimeout: ${testTimeoutMs},
    hookTimeout: ${testTimeoutMs},
    server: { deps: { inline: [/extensions.sdk/] } },
  },
};
`;
}

function runToEnd(folder: string, argv: readonly string[], isColoured: boolean): Promise<number> {
  return new Promise((resolve, reject) => {
    // Vitest uses colours even in a pipe.
    const env = { ...process.env, ...(isColoured ? {} : { NO_COLOR: "1", FORCE_COLOR: undefined }) };
    const child = spawn(process.execPath, [...argv], { cwd: folder, env, stdio: "inherit" });
    child.once("error", reject);
    child.once("exit", (code) => resolve(code === 0 ? exitCodes.ok : exitCodes.failed));
  });
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}
