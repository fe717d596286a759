import { describe, expect, test } from "vitest";
import { joinKernel, maxStarts, type JoinPorts, type ReachOutcome } from "./join-kernel.ts";

type Outcome = ReachOutcome<string>["kind"];

/**
 * Simulates kernels and time; time passes only by waiting. `reach` gets the number of started kernels and the time.
 */
function world(reach: (starts: number, now: number) => Outcome, endsAfterMs = Infinity) {
  const state = { now: 0, starts: 0 };
  const endings: { at: number; end: () => void }[] = [];
  const ports: JoinPorts<string> = {
    reach: async () => {
      const kind = reach(state.starts, state.now);
      return kind === "connected" ? { kind, connection: "kernel" } : { kind };
    },
    start: async () => {
      state.starts++;
      const ended = Promise.withResolvers<string>();
      endings.push({ at: state.now + endsAfterMs, end: () => ended.resolve("ended with exit code 1") });
      return { exited: ended.promise };
    },
    delay: async (milliseconds) => {
      state.now += milliseconds;
      for (const { at, end } of endings) if (at <= state.now) end();
      await Promise.resolve();
    },
    monotonic: () => state.now,
    logTail: async () => "the log's end",
    isCancelled: () => false,
  };
  return { state, ports };
}

describe("joining a kernel", () => {
  test("that is running starts none", async () => {
    const { state, ports } = world(() => "connected");
    expect(await joinKernel(ports)).toBe("kernel");
    expect(state.starts).toBe(0);
  });

  test("that is not running starts one and waits for it", async () => {
    const { state, ports } = world((starts, now) => (starts > 0 && now > 2_000 ? "connected" : "absent"));
    expect(await joinKernel(ports)).toBe("kernel");
    expect(state.starts).toBe(1);
  });

  test("that is closing waits for its end before it starts the next", async () => {
    const { state, ports } = world((starts, now) =>
      now < 1_000 ? "closing" : starts > 0 ? "connected" : "absent",
    );
    expect(await joinKernel(ports)).toBe("kernel");
    expect(state.starts).toBe(1);
  });

  test("that lost the race to start joins the kernel of the other front", async () => {
    const { state, ports } = world((_starts, now) => (now > 400 ? "connected" : "absent"), 50);
    expect(await joinKernel(ports)).toBe("kernel");
    expect(state.starts).toBe(1);
  });

  test("that always ends fails with its exit and its log", async () => {
    const { state, ports } = world(() => "absent", 50);
    await expect(joinKernel(ports)).rejects.toThrow(
      /ended with exit code 1, 3 times in a row.*\nthe log's end/s,
    );
    expect(state.starts).toBe(maxStarts);
  });

  test("that hangs at its start fails", async () => {
    await expect(joinKernel(world(() => "absent").ports)).rejects.toThrow("did not answer in 30 s");
  });

  test("that says that it is starting waits longer, and starts no other", async () => {
    const { state, ports } = world((starts, now) =>
      starts === 0 ? "absent" : now < 100_000 ? "starting" : "connected",
    );
    expect(await joinKernel(ports)).toBe("kernel");
    expect(state.starts).toBe(1);
  });

  test("that another front started waits for it", async () => {
    const { state, ports } = world((_starts, now) => (now < 100_000 ? "starting" : "connected"));
    expect(await joinKernel(ports)).toBe("kernel");
    expect(state.starts).toBe(0);
  });

  test("that ends while it starts is replaced", async () => {
    const { state, ports } = world((starts, now) =>
      starts > 0 ? "connected" : now < 1_000 ? "starting" : "absent",
    );
    expect(await joinKernel(ports)).toBe("kernel");
    expect(state.starts).toBe(1);
  });

  test("that is never ready fails", async () => {
    await expect(joinKernel(world(() => "starting").ports)).rejects.toThrow("not ready after 10 minutes");
  });

  test("that never finishes closing fails", async () => {
    await expect(joinKernel(world(() => "closing").ports)).rejects.toThrow("has not ended after 30 s");
  });

  test("stops when it is cancelled", async () => {
    expect(await joinKernel({ ...world(() => "absent").ports, isCancelled: () => true })).toBeNull();
  });
});
