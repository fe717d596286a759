import type { Program } from "../../configuration/programs.ts";
import { guestPreamble } from "../../sandbox/guest/preamble.ts";
import { createSandboxHost, type SandboxHost } from "../../sandbox/host/sandbox-host.ts";
import { openCache } from "./caches.ts";
import { readGuestRuntime } from "./resources.ts";
import type { KernelContext } from "./kernel-context.ts";

/** Opens the sandbox with its cache of prepared modules. Its process starts with the first guest. */
export async function openSandbox(context: KernelContext): Promise<SandboxHost<Program>> {
  const { clock, log, opened } = context;
  return opened.use(
    createSandboxHost<Program>({
      clock,
      log,
      cache: await openCache(context, "cache", 256),
      javascript: { runtime: readGuestRuntime, preamble: (program) => guestPreamble(program) },
    }),
  );
}
