import type * as esbuild from "esbuild";
import { hidingSecrets } from "../../platform/processes/secret-variables.ts";

/** How long the compiler's process stays after its last use, so that the next save of a program finds it. */
const stayMs = 10_000;

let open = 0;
let leaving: NodeJS.Timeout | undefined;

/**
 * Calls a function of the compiler, whose process is started for it. While nothing is compiled the process ends: it takes
 * 75 MB and wakes the kernel each second.
 */
export async function compileWith<Result>(
  work: (compiler: typeof esbuild) => Promise<Result>,
): Promise<Result> {
  open += 1;
  clearTimeout(leaving);
  try {
    // Loaded on first use, because loading takes time that a kernel without TypeScript agents can save.
    const compiler = await import("esbuild");
    return await hidingSecrets(() => work(compiler));
  } finally {
    open -= 1;
    if (open === 0) leaving = setTimeout(leave, stayMs).unref();
  }
}

function leave(): void {
  void import("esbuild").then(async ({ stop }) => {
    if (open === 0) await stop();
  });
}
