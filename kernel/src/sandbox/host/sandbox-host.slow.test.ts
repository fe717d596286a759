import { readFileSync } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Emitter } from "../../base/emitter.ts";
import { silentLog } from "../../base/log.ts";
import { openCacheFolder } from "../../platform/files/cache-folder.ts";
import { systemClock } from "../../platform/clock.ts";
import { command, echo, flooding, printing, silent, spinOnInput, wat } from "../testing/wat.ts";
import type { Guest } from "./kernel-guest.ts";
import { createSandboxHost, type GuestProgram, type SandboxHost } from "./sandbox-host.ts";

const host: SandboxHost<GuestProgram> = createSandboxHost({ clock: systemClock, log: silentLog });
const programs = new Map<string, GuestProgram>();

async function program(text: string): Promise<GuestProgram> {
  const known = programs.get(text) ?? { kind: "wasm", bytes: await wat(text) };
  programs.set(text, known);
  return known;
}

async function start(text: string, maxMemoryMb = 16, on: SandboxHost<GuestProgram> = host): Promise<Guest> {
  return on.start(await program(text), { agent: "test", maxMemoryMb });
}

/** Resolves with the first event that satisfies the condition. */
function next<Event>(
  emitter: Emitter<Event>,
  passes: (event: Event) => boolean = () => true,
): Promise<Event> {
  return new Promise((resolve) => {
    const listening = emitter.on((event) => {
      if (!passes(event)) return;
      listening[Symbol.dispose]();
      resolve(event);
    });
  });
}

async function roundTrip(guest: Guest, line: string): Promise<string> {
  const answer = next(guest.lines);
  guest.send(line);
  return answer;
}

/** CPU time of the host process so far, in ms; resident memory in MB. */
function hostFigures(): { cpuMs: number; residentMb: number } {
  const stat = readFileSync(`/proc/${host.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  const status = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${host.pid}/status`, "utf8"))?.[1];
  return { cpuMs: (Number(stat[11]) + Number(stat[12])) * 10, residentMb: Number(status) / 1024 };
}

beforeAll(() => host.prewarm());
afterAll(() => host[Symbol.asyncDispose]());

describe("a guest's pipes", () => {
  test("a line is echoed unchanged, including non-ASCII text and the maximum length", async () => {
    const guest = await start(echo);
    expect(await roundTrip(guest, "hello")).toBe("hello");
    expect(await roundTrip(guest, 'päth 🏛 \u2028 "quoted"')).toBe('päth 🏛 \u2028 "quoted"');
    const long = "x".repeat(1024 * 1024);
    expect(await roundTrip(guest, long)).toBe(long);
    await guest.kill();
  });

  test("lines that are sent in one turn arrive in order", async () => {
    const guest = await start(echo);
    const received: string[] = [];
    const all = next(guest.lines, (line) => received.push(line) === 5000);
    for (let index = 0; index < 5000; index++) guest.send(`line ${index}`);
    await all;
    expect(received).toEqual(Array.from({ length: 5000 }, (_, index) => `line ${index}`));
    await guest.kill();
  });

  test("a line over 1 MiB terminates the guest with that reason", async () => {
    const guest = await start(flooding(1, "x", 1000));
    expect(await guest.exited).toEqual({
      reason: "The program wrote a line over 1 MiB.",
      isSandboxFault: false,
    });
  });

  test("a quarter of a gigabyte of output does not make the host grow", async () => {
    const guest = await start(flooding(1, "\n", 4096));
    let count = 0;
    let largest = 0;
    const before = hostFigures().residentMb;
    await next(guest.lines, () => {
      if (++count % 512 === 0) largest = Math.max(largest, hostFigures().residentMb);
      return count === 4096;
    });
    expect(largest - before).toBeLessThan(150);
    await guest.kill();
  });

  test("a guest that does not read its input is terminated when too much is unread", async () => {
    const guest = await start(command(`(loop $again (br $again))`));
    const megabyte = "x".repeat(1024 * 1024);
    for (let index = 0; index < 90; index++) guest.send(megabyte);
    expect((await guest.exited).reason).toMatch(/left \d+ bytes of its input unread; the limit is 83886080/);
  });

  test("all output of a guest that exits with unread input arrives before its exit", async () => {
    const text = flooding(1, "\n", 64).replace("(loop $stay (br_if $stay (call $read)))", "");
    const guest = await start(text);
    let lines = 0;
    guest.lines.on(() => lines++);
    for (let index = 0; index < 4; index++) guest.send("x".repeat(1024 * 1024));
    expect((await guest.exited).reason).toMatch(/exit code 0/);
    expect(lines).toBe(64);
  });

  test("stderr arrives as lines; bytes over the limit are dropped and counted", async () => {
    const guest = await start(printing(2, "careful\nthis is\n", `(loop $stay (br_if $stay (call $read)))`));
    expect(await next(guest.stderr)).toBe("careful");
    await guest.kill();
    const loud = await start(flooding(2, "x", 40));
    const kept: string[] = [];
    loud.stderr.on((line) => kept.push(line));
    await next(loud.stderr, (line) => line.includes("were dropped"));
    expect(kept.at(-1)).toMatch(/^… \d+ bytes of stderr were dropped/);
    expect(kept.join("").length).toBeLessThan(200_000);
    await loud.kill();
  });
});

describe("how a guest ends", () => {
  test.each<[string, string, RegExp]>([
    ["by returning", command(""), /ended by itself with exit code 0/],
    ["by a trap", command("(unreachable)"), /The program failed: unreachable/],
    [
      "by endless recursion",
      command("(call $self)", "(func $self (call $self))"),
      /The program failed: .*call stack/,
    ],
  ])("%s", async (_name, text, reason) => {
    const guest = await start(text);
    expect((await guest.exited).reason).toMatch(reason);
  });

  test("killing a spinning guest ends its thread and its CPU use, and does not affect another guest", async () => {
    const spinning = await start(spinOnInput);
    const other = await start(echo);
    spinning.send("go");
    await next(spinning.usage, (usage) => usage.cpuTimeMs > 150);
    for (let index = 0; index < 200; index++) expect(await roundTrip(other, `${index}`)).toBe(`${index}`);
    await spinning.kill("It is enough.");
    expect(await spinning.exited).toEqual({ reason: "It is enough.", isSandboxFault: false });
    // A thread that kept spinning would leave no period idle.
    let cpuMs = hostFigures().cpuMs;
    const usedSinceLast = (): number => -cpuMs + (cpuMs = hostFigures().cpuMs);
    await expect.poll(usedSinceLast, { interval: 200, timeout: 20_000 }).toBeLessThan(60);
    expect(await roundTrip(other, "still here")).toBe("still here");
    await other.kill();
  });

  test("a guest can be killed while its start function spins", async () => {
    const guest = await start(
      `(module (memory (export "memory") 1) (func $spin (loop $again (br $again))) (func (export "_start")) (start $spin))`,
    );
    await next(guest.usage, (usage) => usage.cpuTimeMs > 50);
    await guest.kill();
  });

  test("sending to an ended guest does nothing, and killing it again resolves", async () => {
    const guest = await start(command(""));
    await guest.exited;
    guest.send("hello?");
    await guest.kill();
  });
});

describe("usage", () => {
  test("the reported memory is exact in a guest that grows and then spins, and never over the maximum", async () => {
    const bomb = await start(
      command(
        `(loop $again (br_if $again (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) (loop $spin (br $spin))`,
      ),
      24,
    );
    const usage = await next(bomb.usage, ({ memoryBytes }) => memoryBytes >= 24 * 1024 * 1024);
    expect(usage.memoryBytes).toBe(24 * 1024 * 1024);
    const later = await next(bomb.usage, ({ cpuTimeMs }) => cpuTimeMs > usage.cpuTimeMs + 50);
    expect(later).toMatchObject({ memoryBytes: 24 * 1024 * 1024, isComputing: true });
    await bomb.kill();
  });

  test("the CPU time of a spinning guest follows the clock; that of a waiting guest is constant and not sampled", async () => {
    const guest = await start(spinOnInput);
    const waiting = await next(guest.usage, ({ isComputing }) => !isComputing);
    let samples = 0;
    using _ = guest.usage.on(() => samples++);
    // Another guest's samples tell how often this one could have been asked.
    const other = await start(spinOnInput);
    other.send("go");
    let others = 0;
    await next(other.usage, ({ isComputing }) => isComputing && ++others === 10);
    await other.kill();
    expect(samples).toBeLessThanOrEqual(2);
    expect(waiting.cpuTimeMs).toBeLessThan(100);
    guest.send("go");
    const begun = await next(guest.usage, ({ cpuTimeMs }) => cpuTimeMs > waiting.cpuTimeMs + 20);
    const { cpuTimeMs } = await next(guest.usage, (usage) => usage.cpuTimeMs > begun.cpuTimeMs + 100);
    expect(cpuTimeMs).toBeGreaterThan(begun.cpuTimeMs + 100);
    await guest.kill();
  });
});

describe("programs that are refused", () => {
  test.each<[string, string, RegExp]>([
    [
      "by an import",
      `(module (import "env" "x" (func)) (memory (export "memory") 1) (func (export "_start")))`,
      /"x" from "env"/,
    ],
    ["by their memory", command("", "", "400"), /max_memory_mb is 16/],
  ])("%s, as the program's own fault", async (_name, text, message) => {
    const starting = start(text);
    await expect(starting).rejects.toMatchObject({ code: "AgentError", facts: { reason: "program" } });
    await expect(starting).rejects.toThrow(message);
  });

  test("the sandbox keeps working after an invalid module", async () => {
    const nonsense = host.start(
      { kind: "wasm", bytes: new Uint8Array(5000).fill(7) },
      { agent: "test", maxMemoryMb: 16 },
    );
    await expect(nonsense).rejects.toThrow(/not valid WebAssembly/);
    const guest = await start(echo);
    expect(await roundTrip(guest, "fine")).toBe("fine");
    await guest.kill();
  });

  test("a forbidden WASI call returns 76 in the real runtime, and the environment is empty", async () => {
    const guest = await start(`(module
      (import "wasi_snapshot_preview1" "path_open" (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "fd_prestat_get" (func $prestat (param i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "environ_sizes_get" (func $environ (param i32 i32) (result i32)))
      (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
      (memory (export "memory") 1)
      (func (export "_start")
        (drop (call $environ (i32.const 0) (i32.const 4)))
        (call $exit (i32.add (i32.load (i32.const 0)) (i32.add
          (call $open (i32.const 3) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i64.const 0) (i64.const 0) (i32.const 0) (i32.const 0))
          (call $prestat (i32.const 3) (i32.const 0)))))))`);
    expect((await guest.exited).reason).toMatch(/exit code 84\./);
  });
});

describe("the host process", () => {
  test("when the host is killed, every guest's exit reports it, and the next start works", async () => {
    await using own = createSandboxHost({ clock: systemClock, log: silentLog });
    const guests = [await start(silent, 16, own), await start(spinOnInput, 16, own)];
    const pid = own.pid ?? 0;
    process.kill(pid, "SIGKILL");
    for (const guest of guests)
      expect((await guest.exited).reason).toBe("The sandbox host process ended by SIGKILL.");
    const again = await start(echo, 16, own);
    expect(await roundTrip(again, "back")).toBe("back");
    expect(own.pid).not.toBe(pid);
  });

  test("ends when it is disposed, and then starts nothing", async () => {
    const own = createSandboxHost({ clock: systemClock, log: silentLog });
    const guest = await start(silent, 16, own);
    await own[Symbol.asyncDispose]();
    expect((await guest.exited).reason).toMatch(/sandbox host process/);
    await expect(start(silent, 16, own)).rejects.toThrow(/closed/);
  });

  test("may neither read the machine's files nor see its environment", () => {
    const read = (name: string): string => readFileSync(`/proc/${host.pid}/${name}`, "utf8");
    // Nothing but what the C library is told about memory.
    const variables = read("environ")
      .split("\0")
      .filter((each) => each !== "");
    expect(
      variables.every((each) => /^MALLOC_\w+=\d+$/.test(each)),
      variables.join(),
    ).toBe(true);
    const flags = read("cmdline").split("\0");
    expect(flags).toContain("--permission");
    expect(
      flags
        .filter((flag) => flag.startsWith("--allow"))
        .every((flag) => /--allow-(worker|fs-read=)/.test(flag)),
    ).toBe(true);
  });

  test("JavaScript programs get their preamble first, even in a prewarmed runtime", async () => {
    const bytes = await wat(echo);
    await using own = createSandboxHost<GuestProgram & { name: string }>({
      clock: systemClock,
      log: silentLog,
      javascript: {
        runtime: () => Promise.resolve(bytes),
        preamble: ({ name }) => new TextEncoder().encode(`preamble of ${name}\n`),
      },
    });
    own.prewarm(16);
    for (const name of ["one", "two"]) {
      const guest = await own.start(
        { kind: "javascript", bytes: new Uint8Array(), name },
        { agent: name, maxMemoryMb: 16 },
      );
      expect(await next(guest.lines)).toBe(`preamble of ${name}`);
      expect(await roundTrip(guest, "then this")).toBe("then this");
    }
  });
});

test("prepared modules are kept on disk; a damaged file is replaced", async () => {
  const folder = await mkdtemp(join(tmpdir(), "lares-cache-"));
  try {
    const warnings: string[] = [];
    const log = { ...silentLog, warn: (message: string) => void warnings.push(message) };
    const runOnce = async (): Promise<void> => {
      await using own = createSandboxHost({
        clock: systemClock,
        log,
        cache: openCacheFolder(folder, { maxFiles: 10, key: new Uint8Array(32), log }),
      });
      const guest = await start(echo, 16, own);
      expect(await roundTrip(guest, "hi")).toBe("hi");
    };
    await runOnce();
    const [name = ""] = await readdir(folder);
    const whole = readFileSync(join(folder, name));
    await writeFile(join(folder, name), whole.with(100, (whole[100] ?? 0) ^ 1));
    await runOnce();
    expect(warnings.filter((message) => message.includes("not what was put there"))).toHaveLength(1);
    expect(readFileSync(join(folder, name)).equals(whole)).toBe(true);
  } finally {
    await rm(folder, { recursive: true });
  }
});
