import { readFileSync } from "node:fs";
import { flushCompileCache } from "node:module";
import process from "node:process";
import { fileURLToPath } from "node:url";

/**
 * The composition root. Each command loads its own code: an editor that waits for `initialize` pays for the front
 * and nothing else.
 */
const version = (
  JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }
).version;

/** How to run this program again: by its executable, which keeps compiled code between starts. */
const program = {
  executable: process.execPath,
  arguments: [...process.execArgv, fileURLToPath(new URL("../bin/lares.js", import.meta.url))],
};

interface ServeOptions {
  readonly stdio: boolean;
  readonly pipe?: string;
  readonly clientProcessId?: number;
  readonly keep: boolean;
}

async function serve({ pipe, clientProcessId, keep }: ServeOptions): Promise<number> {
  const { runFront } = await import("./front/front.ts");
  return runFront({
    version,
    channel: pipe === undefined ? { kind: "stdio" } : { kind: "pipe", name: pipe },
    keep,
    program,
    environment: process.env,
    // Node keeps compiled code at a clean end only, and a front is as likely to be killed.
    answered: () => flushCompileCache(),
    ...(clientProcessId === undefined ? {} : { clientProcessId }),
  });
}

/** `serve` as editors start it, read without the command line's library; null for anything that needs it. */
function plainServe(argv: readonly string[]): ServeOptions | null {
  if (argv[0] !== "serve") return null;
  const options: { stdio: boolean; pipe?: string; clientProcessId?: number; keep: boolean } = {
    stdio: false,
    keep: false,
  };
  for (const argument of argv.slice(1)) {
    const [name, value] = argument.split(/=(.*)/s, 2);
    if (argument === "--stdio") options.stdio = true;
    else if (argument === "--keep") options.keep = true;
    else if (name === "--pipe" && value) options.pipe = value;
    else if (name === "--clientProcessId" && /^\d{1,10}$/.test(value ?? ""))
      options.clientProcessId = Number(value);
    else return null;
  }
  return options.stdio || options.pipe !== undefined ? options : null;
}

async function main(argv: readonly string[]): Promise<number> {
  const served = plainServe(argv);
  if (served !== null) return serve(served);
  if (argv[0] === "kernel") {
    const { parseKernelArguments } = await import("./platform/processes/spawn-kernel.ts");
    const { runKernel } = await import("./composition/kernel-process.ts");
    return runKernel({ ...parseKernelArguments(argv.slice(1)), version });
  }
  const { createProgram, runProgram } = await import("./cli/program/program.ts");
  const { commandLinePorts } = await import("./composition/command-line.ts");
  return runProgram(createProgram(commandLinePorts(version, program, serve)), argv);
}

// A command is done when it says so. A pause before a child is started again holds nothing, and Node would end the process
// in the middle of it, without a word and as if all were well.
const held = setInterval(() => undefined, 2 ** 30);
try {
  process.exitCode = await main(process.argv.slice(2));
} finally {
  clearInterval(held);
}
// A front or kernel that has ended must not be kept by a handle somebody forgot.
if (process.argv[2] === "serve" || process.argv[2] === "kernel") process.exit();
