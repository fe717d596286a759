import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { silentLog } from "../../../kernel/src/base/log.ts";
import { systemClock } from "../../../kernel/src/platform/clock.ts";
import { wireCodes } from "../../../kernel/src/protocol/errors.ts";
import { openGuestSession } from "../../../kernel/src/sandbox/abi/v1/session.ts";
import { Bundler } from "../../../kernel/src/sandbox/bundle/bundle.ts";
import { guestPreamble } from "../../../kernel/src/sandbox/guest/preamble.ts";
import { createSandboxHost } from "../../../kernel/src/sandbox/host/sandbox-host.ts";
import { readGuestRuntime } from "../../../kernel/src/composition/subsystems/resources.ts";

const program = `
import { defineAgent } from "@lares/sdk";
export default defineAgent({ hooks: { async tick(event, ctx) { await ctx.vdfs.get(event.path); } } });
`;

/**
 * Measures events a second through real guests in the real sandbox, from this process, without inbox, policy or
 * database; the host call is answered with a constant. `window` events are in flight at a time.
 */
export async function bareGuest(options: {
  readonly guests: number;
  readonly events: number;
  readonly window: number;
}): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "lares-bench-guest-"));
  await writeFile(join(folder, "agent.ts"), program);
  const sdk = fileURLToPath(new URL("../../../extensions/sdk", import.meta.url));
  const bundled = await new Bundler(sdk).bundle(folder, "agent.ts");
  if (!bundled.ok) throw new Error("the peer's program could not be bundled");
  await using sandbox = createSandboxHost<typeof bundled.program>({
    clock: systemClock,
    log: silentLog,
    javascript: { runtime: readGuestRuntime, preamble: guestPreamble },
  });
  try {
    const sessions = await Promise.all(
      Array.from({ length: options.guests }, async (_, at) => {
        const guest = await sandbox.start(bundled.program, { agent: `bare${at}`, maxMemoryMb: 256 });
        const session = openGuestSession(
          guest,
          {
            clock: systemClock,
            errors: wireCodes,
            call: () => Promise.resolve({ path: "notes/note.txt", size: 1234 }),
            notify: () => {},
            fault: (sentence) => console.error(sentence),
          },
          { maxCpuMs: 60_000, maxWallMs: 60_000 },
        );
        await session.request("initialize", {
          abi: 1,
          extension: { id: "dev.bench.bare", version: "1.0.0" },
          config: {},
          permissions: {},
          locations: ["."],
          limits: {},
        });
        return session;
      }),
    );
    const startedAt = performance.now();
    await Promise.all(
      sessions.map(async (session) => {
        let left = options.events;
        await Promise.all(
          Array.from({ length: options.window }, async () => {
            while (left-- > 0) {
              await session.request("hook", {
                handler: "tick",
                event: { name: "Tick", id: "1", timestamp: "", number: left, path: "notes/note.txt" },
              });
            }
          }),
        );
      }),
    );
    const seconds = (performance.now() - startedAt) / 1000;
    await Promise.all(sessions.map((session) => session.kill()));
    return (options.guests * options.events) / seconds;
  } finally {
    await rm(folder, { recursive: true });
  }
}
