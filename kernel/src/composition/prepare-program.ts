import { join } from "node:path";
import { silentLog } from "../base/log.ts";
import { systemClock } from "../platform/clock.ts";
import { guestPreamble } from "../sandbox/guest/preamble.ts";
import { createSandboxHost } from "../sandbox/host/sandbox-host.ts";
import type { ExtensionFinder } from "./find-extensions.ts";
import { createProgramLoader, type Program } from "./programs.ts";
import { bundle, readGuestRuntime } from "./resources.ts";

/** Makes the extension's program ready as a kernel would, without running it; the sentence that says why not, or null. */
export async function programFault(finder: ExtensionFinder, folder: string): Promise<string | null> {
  const extension = await finder.byPath(folder, join(folder, "lares.yaml"));
  const main = extension?.checked.value?.main ?? null;
  if (extension === null || main === null) return "It has no program.";
  await using sandbox = createSandboxHost<Program>({
    clock: systemClock,
    log: silentLog,
    javascript: { runtime: readGuestRuntime, preamble: guestPreamble },
  });
  const loader = createProgramLoader(bundle, (bytes) => sandbox.check({ kind: "wasm", bytes }));
  // Whoever has it tested trusts it that far: to be looked into. Nothing of it is run here.
  return (await loader.load(extension.folder, main, true)).fault ?? null;
}
