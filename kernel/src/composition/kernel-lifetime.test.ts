import { expect, test } from "vitest";
import { ManualClock } from "../base/testing/manual-clock.ts";
import { KernelLifetime } from "./kernel-lifetime.ts";

const unjoinedMs = 10_000;
const lingerMs = 1000;

interface Case {
  readonly clock: ManualClock;
  readonly lifetime: KernelLifetime;
  /** Null while it lives. */
  reason(): Promise<string | null>;
}

function lifetimeOf(options: { readonly keep?: boolean; readonly isAtWork?: () => boolean } = {}): Case {
  const clock = new ManualClock();
  const lifetime = new KernelLifetime({
    clock,
    keep: false,
    unjoinedMs,
    lingerMs: () => lingerMs,
    ...options,
  });
  return { clock, lifetime, reason: () => Promise.race([lifetime.ended, Promise.resolve(null)]) };
}

test("a client that joins before the kernel has finished opening its socket keeps the kernel", async () => {
  const { clock, lifetime, reason } = lifetimeOf();
  lifetime.clientsChanged(1);
  clock.advance(10 * unjoinedMs);
  expect(await reason()).toBeNull();
});

test("a kernel without a client ends, and so does one whose last client left", async () => {
  const unjoined = lifetimeOf();
  unjoined.clock.advance(unjoinedMs);
  expect(await unjoined.reason()).toBe("nobody joined it");

  const left = lifetimeOf();
  left.lifetime.clientsChanged(1);
  left.lifetime.clientsChanged(0);
  left.clock.advance(lingerMs - 1);
  expect(await left.reason()).toBeNull();
  left.clock.advance(1);
  expect(await left.reason()).toBe("its last client left");
});

test("a client that reconnects in time keeps the kernel", async () => {
  const { clock, lifetime, reason } = lifetimeOf();
  for (const clients of [1, 0, 1, 2, 1]) {
    lifetime.clientsChanged(clients);
    clock.advance(lingerMs - 1);
  }
  clock.advance(unjoinedMs);
  expect(await reason()).toBeNull();
});

test("a kernel with --keep ends only when it is told to", async () => {
  const { clock, lifetime, reason } = lifetimeOf({ keep: true });
  lifetime.clientsChanged(1);
  lifetime.clientsChanged(0);
  clock.advance(10 * unjoinedMs);
  expect(await reason()).toBeNull();
  lifetime.end("it was told to");
  expect(await reason()).toBe("it was told to");
});

test("a kernel in which somebody's work continues ends when that has ended", async () => {
  let isAtWork = true;
  const { clock, lifetime, reason } = lifetimeOf({ isAtWork: () => isAtWork });
  lifetime.clientsChanged(1);
  lifetime.clientsChanged(0);
  clock.advance(lingerMs * 3);
  expect(await reason()).toBeNull();
  isAtWork = false;
  clock.advance(lingerMs);
  expect(await reason()).toBe("its last client left");
});
