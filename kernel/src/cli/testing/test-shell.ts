import process from "node:process";
import { beforeEach, onTestFinished, vi } from "vitest";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import type { CliPorts } from "../ports.ts";
import { createProgram, runProgram } from "../program/program.ts";
import { FakeKernel, portsOf } from "./fake-kernel.ts";

/** What a command has written so far. A test may empty it between two commands. */
interface Written {
  output: string;
  errors: string;
}

/** A command line with a kernel of its own for each test. */
interface TestShell extends Written {
  kernel: FakeKernel;
  /** Empty at first. */
  folder: string;
  /** Runs a command, and returns its exit code. */
  readonly lares: (argv: readonly string[], ports?: Partial<CliPorts>) => Promise<number>;
}

/** Keeps what each test of a file writes, which has no colours, from the terminal. */
export function keepWritten<T extends Written>(written: T): T {
  beforeEach(() => {
    written.output = "";
    written.errors = "";
    process.exitCode = undefined;
    vi.stubEnv("NO_COLOR", "1");
    vi.spyOn(process.stdout, "write").mockImplementation((text) => ((written.output += String(text)), true));
    vi.spyOn(process.stderr, "write").mockImplementation((text) => ((written.errors += String(text)), true));
    onTestFinished(() => {
      vi.restoreAllMocks();
      vi.unstubAllEnvs();
      process.exitCode = undefined;
    });
  });
  return written;
}

/** Gives each test of a file a shell, and returns what it has. */
export function testShell(): TestShell {
  const shell: TestShell = keepWritten({
    output: "",
    errors: "",
    kernel: new FakeKernel(),
    folder: "",
    lares: (argv, ports = {}) => runProgram(createProgram(portsOf(shell.kernel, ports)), [...argv]),
  });
  beforeEach(async () => {
    shell.folder = await temporaryFolder();
    shell.kernel = new FakeKernel();
  });
  return shell;
}
