/**
 * `npm run test:desktop`: the suite of `suite/` in a desktop VS Code: the one that `VSCODE_PATH` names, or one that
 * is downloaded. On Linux without a screen: `xvfb-run -a npm run test:desktop`.
 */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { downloadAndUnzipVSCode, runTests } from "@vscode/test-electron";
import { bundleSuite } from "./support/suite-bundle.ts";
import type { TestResult } from "./suite/index.ts";

const client = fileURLToPath(new URL("../../vscode-client/", import.meta.url));
const fixture = fileURLToPath(new URL("workspace/", import.meta.url));

const executable = await findVSCode();
if (executable !== undefined) await test(executable);

async function findVSCode(): Promise<string | undefined> {
  const named = process.env["VSCODE_PATH"];
  if (named !== undefined && named !== "") {
    if (existsSync(named)) return named;
    console.error(`VSCODE_PATH=${named}: there is no such file.`);
  } else {
    try {
      return await downloadAndUnzipVSCode({ cachePath: join(tmpdir(), "lares-vscode-desktop") });
    } catch (error) {
      console.error(
        `VS Code could not be downloaded (${error instanceof Error ? error.message : String(error)}).\n` +
          "Name an installed one: VSCODE_PATH=/usr/share/code/code npm run test:desktop",
      );
    }
  }
  process.exitCode = 1;
  return undefined;
}

async function test(vscodeExecutablePath: string): Promise<void> {
  execFileSync(process.execPath, [join(client, "build", "bundle.ts")], { stdio: "inherit" });
  const base = realpathSync(mkdtempSync(join(tmpdir(), "lares-desktop-")));
  try {
    const workspace = join(base, "workspace");
    cpSync(fixture, workspace, { recursive: true });
    mkdirSync(join(base, "data", "User"), { recursive: true });
    writeFileSync(join(base, "data", "User", "settings.json"), JSON.stringify({ "files.autoSave": "off" }));
    const results = join(base, "results.json");
    const code = await runTests({
      vscodeExecutablePath,
      extensionDevelopmentPath: client,
      extensionTestsPath: await bundleSuite("suite"),
      extensionTestsEnv: {
        LARES_HOME: join(base, "lares"),
        LARES_KERNEL_LINGER: "1s",
        LARES_E2E_RESULTS: results,
      },
      launchArgs: [
        workspace,
        `--user-data-dir=${join(base, "data")}`,
        `--extensions-dir=${join(base, "extensions")}`,
        "--disable-workspace-trust",
        "--skip-welcome",
        "--skip-release-notes",
        // Needed when running as root, in a container.
        ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      ],
    }).catch((error: unknown) => {
      // It throws for failed tests, too; those are reported below.
      if (!existsSync(results)) throw error;
      return 1;
    });
    report(JSON.parse(readFileSync(results, "utf8")) as TestResult[]);
    process.exitCode = code;
  } finally {
    rmSync(base, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
  }
}

function report(results: readonly TestResult[]): void {
  for (const { title, error } of results)
    console.log(
      error === undefined ? `  ✓ ${title}` : `  × ${title}\n    ${error.replaceAll("\n", "\n    ")}`,
    );
  console.log(`${results.filter(({ error }) => error === undefined).length} of ${results.length} passed`);
}
