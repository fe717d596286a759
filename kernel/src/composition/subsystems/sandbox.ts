import { join } from "node:path";
import type { Program } from "../../configuration/programs.ts";
import { cacheKey, openCacheFolder } from "../../platform/files/cache-folder.ts";
import { guestPreamble } from "../../sandbox/guest/preamble.ts";
import { createSandboxHost, type SandboxHost } from "../../sandbox/host/sandbox-host.ts";
import { readGuestRuntime } from "./resources.ts";
import type { KernelContext } from "./kernel-context.ts";

/** Opens the sandbox with its cache of prepared modules. Its process starts with the first guest. */
export async function openSandbox({
  stateFolder,
  clock,
  log,
  opened,
}: KernelContext): Promise<SandboxHost<Program>> {
  return opened.use(
    createSandboxHost<Program>({
      clock,
      log,
      cache: openCacheFolder(join(stateFolder, "cache"), {
        maxFiles: 256,
        key: await cacheKey(join(stateFolder, "cache.key"), log),
        log,
      }),
      javascript: { runtime: readGuestRuntime, preamble: (program) => guestPreamble(program) },
    }),
  );
}
