import { spawn } from "node:child_process";

/** A program's output and its exit code; null if a signal ended it. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a Node program to its end, without a terminal. Standard input is empty unless `input` is given. */
export function runNode(
  argv: readonly string[],
  { input, ...options }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly input?: string },
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, argv, { ...options, stdio: ["pipe", "pipe", "pipe"] });
    child.stdin.on("error", () => undefined); // it may have ended
    child.stdin.end(input ?? "");
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, stdout, stderr }));
  });
}
