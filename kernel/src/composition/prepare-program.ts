import { join } from "node:path";
import { silentLog } from "../base/log.ts";
import { systemClock } from "../platform/clock.ts";
import { guestPreamble } from "../sandbox/guest/preamble.ts";
import { createSandboxHost } from "../sandbox/host/sandbox-host.ts";
import type { ExtensionFinder } from "../configuration/find-extensions.ts";
import { createProgramLoader, type Program } from "../configuration/programs.ts";
import { gitIgnored } from "../workspace/git-ignored.ts";
import { bundle, readGuestRuntime } from "./subsystems/resources.ts";

/**
 * Prepares the extension's program as a kernel would, without running it. Returns an error message, or null: also for a mind,
 * which needs no program.
 */
export async function programFault(finder: ExtensionFinder, folder: string): Promise<string | null> {
  const extension = await finder.byPath(folder, join(folder, "lares.yaml"));
  const main = extension?.checked.value?.main ?? null;
  if (extension?.checked.value?.mind !== undefined && main === null) return null;
  if (extension === null || main === null) return "It has no program.";
  await using sandbox = createSandboxHost<Program>({
    clock: systemClock,
    log: silentLog,
    javascript: { runtime: readGuestRuntime, preamble: guestPreamble },
  });
  const loader = createProgramLoader({
    bundle,
    checkModule: (bytes) => sandbox.check({ kind: "wasm", bytes }),
    gitIgnored,
  });
  // A user who tests it trusts it enough for its module to be checked. Nothing in it runs.
  return (await loader.load(extension.folder, main, true)).fault ?? null;
}
