import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { installNested, modelRuntime } from "../../kernel/build/nested-package.ts";
import type { Bench } from "./bench.ts";
import { installBuilt } from "./installed.ts";

/** Installs a kernel beside the runtime of tensor models, whose person lets models be fetched from a host of this machine. */
export async function installedWithModels(
  bench: Bench,
  host: string,
): Promise<{ readonly executable: string; readonly environment: Record<string, string> }> {
  const config = join(bench.base, "config", "lares");
  await mkdir(config, { recursive: true });
  await writeFile(
    join(config, "lares.yaml"),
    JSON.stringify({ version: 1, egress: { private_hosts: [host] } }),
  );
  const installed = join(bench.base, "installed");
  await mkdir(installed);
  const executable = installBuilt(installed);
  const from = installNested(modelRuntime)("onnxruntime-node/package.json");
  await symlink(dirname(from), join(installed, "node_modules", "onnxruntime-node"), "junction");
  return { executable, environment: { XDG_CONFIG_HOME: join(bench.base, "config") } };
}
