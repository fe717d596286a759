import type { ProbeResult } from "../cli/ports.ts";
import { silentLog } from "../base/log.ts";
import { systemClock } from "../platform/clock.ts";
import { sha256 } from "../platform/files/hash.ts";
import { wireCodes } from "../protocol/errors.ts";
import { openGuestSession } from "../sandbox/abi/v1/session.ts";
import { guestPreamble } from "../sandbox/guest/preamble.ts";
import { createSandboxHost } from "../sandbox/host/sandbox-host.ts";
import type { Program } from "../configuration/programs.ts";
import { readGuestRuntime } from "./subsystems/resources.ts";

/** Starts a guest that does nothing and waits for its answer, to test that the sandbox works on this machine. */
export async function probeSandbox(): Promise<ProbeResult> {
  await using sandbox = createSandboxHost<Program>({
    clock: systemClock,
    log: silentLog,
    javascript: { runtime: readGuestRuntime, preamble: guestPreamble },
  });
  const bytes = new TextEncoder().encode("export default {};");
  const program: Program = { kind: "javascript", digest: sha256(bytes), bytes };
  const startedAt = performance.now();
  const guest = await sandbox.start(program, { agent: "dev.lares.probe", maxMemoryMb: 64 });
  const session = openGuestSession(
    guest,
    {
      clock: systemClock,
      errors: wireCodes,
      call: async () => null,
      notify: () => undefined,
      fault: () => undefined,
    },
    { maxCpuMs: 5_000, maxWallMs: 10_000 },
  );
  await session.request("ping", {});
  const startMs = performance.now() - startedAt;
  const askedAt = performance.now();
  await session.request("ping", {});
  const answerMs = performance.now() - askedAt;
  await session.kill();
  return {
    ok: true,
    detail: `a guest started in ${startMs.toFixed(0)} ms and answers in ${answerMs.toFixed(2)} ms`,
  };
}
