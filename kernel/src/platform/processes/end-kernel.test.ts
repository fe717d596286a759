import { join } from "node:path";
import process from "node:process";
import { describe, expect, it } from "vitest";
import { endHolder, endKernel, isKernelOf, killedEndMs, orderlyEndMs, type EndPorts } from "./end-kernel.ts";
import { kernelArguments } from "./spawn-kernel.ts";
import { TestChild } from "../testing/child.ts";
import { temporaryFolder } from "../testing/temporary-folder.ts";

/** A machine with one lock on it, and a clock that only delays move. */
class Machine implements EndPorts {
  now = 0;
  holds: number | "unknown" | null = 7;
  readonly signals: string[] = [];
  /** What a signal comes to. */
  ends: (signal: "SIGTERM" | "SIGKILL") => void = () => undefined;
  isKernel: EndPorts["isKernel"] = async () => true;
  readonly #later: { at: number; run: () => void }[] = [];

  holder = async () => this.holds;
  monotonic = () => this.now;

  signal(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
    this.signals.push(`${signal} ${pid}`);
    this.ends(signal);
  }

  async delay(milliseconds: number): Promise<void> {
    this.now += milliseconds;
    for (const { at, run } of this.#later) if (at <= this.now) run();
  }

  after(milliseconds: number, run: () => void): void {
    this.#later.push({ at: this.now + milliseconds, run });
  }
}

describe("signals to processes", () => {
  it("without a lock holder, no signal is sent", async () => {
    const machine = new Machine();
    machine.holds = null;
    expect(await endHolder(machine)).toEqual({ pid: null, killed: false });
    expect(machine.signals).toEqual([]);
  });

  it("a kernel that answers is asked to end, and ends in order", async () => {
    const machine = new Machine();
    machine.ends = () => machine.after(orderlyEndMs - 100, () => (machine.holds = null));
    expect(await endHolder(machine)).toEqual({ pid: 7, killed: false });
    expect(machine.signals).toEqual(["SIGTERM 7"]);
  });

  it("a kernel that does not answer is killed, and not too early", async () => {
    const machine = new Machine();
    machine.ends = (signal) => {
      if (signal !== "SIGKILL") return;
      expect(machine.now).toBeGreaterThanOrEqual(orderlyEndMs);
      machine.holds = null;
    };
    expect(await endHolder(machine)).toEqual({ pid: 7, killed: true });
    expect(machine.signals).toEqual(["SIGTERM 7", "SIGKILL 7"]);
  });

  it("another editor has started the next kernel meanwhile: that one is not ended", async () => {
    const machine = new Machine();
    machine.ends = () => machine.after(100, () => (machine.holds = 8));
    expect(await endHolder(machine)).toEqual({ pid: 7, killed: false });
    expect(machine.signals).toEqual(["SIGTERM 7"]);
  });

  it("a process that reuses a dead kernel's id gets no signal", async () => {
    const machine = new Machine();
    machine.isKernel = async () => false;
    await expect(endHolder(machine)).rejects.toThrow("Process 7 is recorded as this workspace's kernel");
    expect(machine.signals).toEqual([]);
  });

  it("its number is given to another process while it is waited for: no second signal", async () => {
    const machine = new Machine();
    machine.isKernel = async () => machine.signals.length === 0;
    await expect(endHolder(machine)).rejects.toThrow("was not ended");
    expect(machine.signals).toEqual(["SIGTERM 7"]);
  });

  it("a kernel between taking the lock and writing its id is waited for", async () => {
    const machine = new Machine();
    machine.holds = "unknown";
    machine.after(200, () => (machine.holds = 9));
    machine.ends = () => (machine.holds = null);
    expect(await endHolder(machine)).toEqual({ pid: 9, killed: false });
  });

  it("a lock holder that never writes its id is not guessed", async () => {
    const machine = new Machine();
    machine.holds = "unknown";
    await expect(endHolder(machine)).rejects.toThrow("has not recorded its process id");
    expect(machine.signals).toEqual([]);
  });

  it("a kernel that outlives SIGKILL is reported after a bounded wait", async () => {
    const machine = new Machine();
    await expect(endHolder(machine)).rejects.toThrow("is still there");
    expect(machine.now).toBeLessThan(orderlyEndMs + killedEndMs + 1_000);
  });

  it("another user's kernel is reported, and nothing more is tried", async () => {
    const machine = new Machine();
    machine.ends = () => {
      throw new Error("The kernel (process 7) belongs to another user");
    };
    await expect(endHolder(machine)).rejects.toThrow("another user");
    expect(machine.signals).toEqual(["SIGTERM 7"]);
  });
});

describe("what is a workspace's kernel", () => {
  const folder = "/home/me/my state/lares/workspaces/notes-0123456789ab";
  const words = ["node", "lares.js", ...kernelArguments({ stateFolder: folder, roots: ["/n"], keep: false })];

  it.each<[string, readonly string[] | "unknown", boolean]>([
    ["as it is started", words, true],
    ["as ps writes it, which parts words at spaces", words.join(" ").split(/\s+/), true],
    ["by another way to the same folder", words.map((word) => word.replace("/home/me", "/link")), true],
    ["that of another workspace", words.map((word) => word.replace("0123456789ab", "ba9876543210")), false],
    ["a front of the workspace", ["node", "lares.js", "serve", "--stdio"], false],
    ["a process that is gone", [], false],
    ["where the system does not tell", "unknown", true],
  ])("%s", (_name, found, is) => {
    expect(isKernelOf(found, folder)).toBe(is);
  });
});

it("a process that has the lock and is not a kernel is not touched", async () => {
  const folder = await temporaryFolder();
  const child = new TestChild(
    `await acquireLock(${JSON.stringify(join(folder, "kernel.lock"))});
     say(process.pid);
     setInterval(() => undefined, 1000);`,
    { modules: { "{ acquireLock }": new URL("./lock.ts", import.meta.url) } },
  );
  await child.waitForLines(1);
  await expect(endKernel(folder)).rejects.toThrow("was not ended");
  expect(() => process.kill(Number(child.lines[0]), 0)).not.toThrow();
  await child.kill();
  expect(await endKernel(folder)).toEqual({ pid: null, killed: false });
});
