import { afterAll, expect, test } from "vitest";
import type { ErrorCode } from "../../../base/errors.ts";
import { silentLog } from "../../../base/log.ts";
import { systemClock } from "../../../platform/clock.ts";
import { createSandboxHost } from "../../host/sandbox-host.ts";
import { command, printing, silent, spinOnInput, wat } from "../../testing/wat.ts";
import { type GuestSession, openGuestSession } from "./session.ts";
import type { ErrorNumbers } from "./wire-errors.ts";

const errors = new Proxy({} as Record<ErrorCode, number>, { get: () => -33013 }) as ErrorNumbers;
const host = createSandboxHost({ clock: systemClock, log: silentLog });
host.prewarm();
afterAll(() => host[Symbol.asyncDispose]());

const faults: string[] = [];
const calls: string[] = [];

async function session(
  text: string,
  limits: { maxCpuMs?: number; maxWallMs?: number } = {},
): Promise<GuestSession> {
  faults.length = 0;
  calls.length = 0;
  const guest = await host.start(
    { kind: "wasm", bytes: await wat(text) },
    { agent: "test", maxMemoryMb: 16 },
  );
  const ports = {
    clock: systemClock,
    errors,
    call: async (method: string) => void calls.push(method),
    notify() {},
    fault: (sentence: string) => void faults.push(sentence),
  };
  return openGuestSession(guest, ports, { maxCpuMs: 5000, maxWallMs: 30_000, ...limits });
}

const stay = `(loop $stay (br_if $stay (call $read)))`;
const answer = (id: number): string => `{"jsonrpc":"2.0","id":${id},"result":{}}\n`;

test("a real guest that spins on an event is terminated by its CPU budget", async () => {
  const guest = await session(spinOnInput, { maxCpuMs: 200 });
  const asked = guest.request("hook", { handler: "x" });
  await expect(asked).rejects.toMatchObject({ code: "AgentError" });
  expect(await guest.ended).toMatchObject({ limit: "max_cpu_ms_per_event", value: 200 });
});

test("a real guest that never answers and does nothing is terminated as hung", async () => {
  const guest = await session(silent, { maxWallMs: 300 });
  await expect(guest.request("hook", {})).rejects.toThrow(/neither computes nor waits/);
  expect(await guest.ended).toMatchObject({ limit: "max_wall_ms_per_event" });
});

test("a real guest that spins without an open request is terminated, too", async () => {
  const guest = await session(command(`(loop $again (br $again))`), { maxCpuMs: 200 });
  expect(await guest.ended).toMatchObject({ limit: "max_cpu_ms_per_event" });
});

test("a real guest that answers shutdown but stays is terminated", async () => {
  const guest = await session(
    printing(1, answer(1), stay).replace("(call $write", "(drop (call $read)) (call $write"),
  );
  expect(await guest.request("shutdown", {})).toEqual({});
  expect(await guest.ended).toMatchObject({ limit: "shutdown" });
});

test("a real guest that prints garbage between its messages is still answered, has its faults reported and is then terminated", async () => {
  const call = `{"jsonrpc":"2.0","id":"a","method":"memory/sync"}\n`;
  const polite = await session(printing(1, `Segmentation fault\n${call}`, stay));
  await expect.poll(() => [faults.length, calls], { timeout: 30_000 }).toEqual([1, ["memory/sync"]]);
  await polite.kill();
  const rude = await session(printing(1, "garbage\n".repeat(20), stay));
  expect((await rude.ended).reason).toMatch(/^It violated the ABI 9 times/);
});
