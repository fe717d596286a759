import { execFile } from "node:child_process";
import { plainLine } from "../../../kernel/src/base/plain-text.ts";
import type { Launch } from "./launch.ts";

/** `lares stop` asks, waits, kills and waits again; in this time it is done with all of it. */
const patienceMs = 30_000;
/** What it prints is one line. */
const maxOutputBytes = 64 * 1024;
const maxReasonLength = 300;

/** What `lares` is called with to end the kernel of these folders, absolute paths. */
export function stopArguments(folders: readonly string[]): string[] {
  // Behind "--": a folder's name may begin with a dash.
  return ["stop", "--json", "--", ...folders];
}

/**
 * Ends the workspace's kernel, which lives on behind its front for whoever comes next, and which may answer nothing
 * any more: by a process of its own, which finds it by the lock that it has. Resolves with a sentence for the log;
 * rejects with why it is still there. Other editors on the workspace find the one that follows.
 */
export function endKernel(launch: Launch): Promise<string> {
  if (launch.kind === "refused") return Promise.reject(new Error(launch.reason));
  const { command, args, env } = launch;
  const options = { env, timeout: patienceMs, maxBuffer: maxOutputBytes, windowsHide: true };
  return new Promise((resolve, reject) => {
    execFile(command, args, options, (error, stdout, stderr) => {
      if (error === null) resolve(sentenceOf(stdout));
      else {
        const said = plainLine(stderr.trim() || error.message).slice(0, maxReasonLength);
        reject(new Error(said));
      }
    });
  });
}

function sentenceOf(stdout: string): string {
  const { pid, killed } = answerIn(stdout);
  if (typeof pid !== "number") return "No kernel was running.";
  return killed === true
    ? `The kernel (process ${pid}) did not answer and was killed.`
    : `The kernel (process ${pid}) was ended.`;
}

/** What `lares stop --json` says; nothing where it is another program that was named in the settings. */
function answerIn(stdout: string): { readonly pid?: unknown; readonly killed?: unknown } {
  try {
    const answer: unknown = JSON.parse(stdout);
    return typeof answer === "object" && answer !== null ? answer : {};
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}
