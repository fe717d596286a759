import { access, constants, mkdir, readFile } from "node:fs/promises";
import { arch, platform, release } from "node:os";
import { messageOf } from "../../base/errors.ts";
import { exitCodes, type CommandContext } from "../command.ts";
import { oneLine } from "../render/foreign.ts";

interface Check {
  readonly name: string;
  readonly state: "ok" | "warning" | "failed";
  readonly detail: string;
}

const neededNode = 24;
/** Below this number, large workspaces run out of watches. */
const comfortableWatches = 100_000;

/** Checks what the kernel needs on this machine, one line each. Exits with 1 if a requirement is missing. */
export async function doctor(
  { ports, terminal }: CommandContext,
  { json }: { readonly json?: boolean },
): Promise<number> {
  const checks: Check[] = [
    { name: "lares", state: "ok", detail: ports.version },
    nodeCheck(),
    { name: "platform", state: "ok", detail: `${platform()} ${release()} ${arch()}` },
    await stateCheck(ports.stateHome()),
    ...(await watchCheck()),
    await terminal.progress("starting a sandbox", sandboxCheck(ports.probeSandbox())),
  ];
  if (json === true) terminal.json(checks);
  else {
    const { style } = terminal.surface;
    const signs = { ok: style.green("✓"), warning: style.yellow("!"), failed: style.red("✗") };
    for (const { name, state, detail } of checks)
      terminal.print(`${signs[state]} ${name.padEnd(14)} ${oneLine(detail)}`);
  }
  return checks.some(({ state }) => state === "failed") ? exitCodes.failed : exitCodes.ok;
}

function nodeCheck(): Check {
  const { node } = process.versions;
  const isNew = Number(node.split(".")[0]) >= neededNode;
  return {
    name: "node",
    state: isNew ? "ok" : "failed",
    detail: isNew ? node : `${node}; ${neededNode} or newer is needed`,
  };
}

async function stateCheck(folder: string): Promise<Check> {
  const name = "state folder";
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
    return { name, state: "ok", detail: folder };
  } catch (error) {
    return {
      name,
      state: "failed",
      detail: `${folder} cannot be written: ${messageOf(error)}; make it writable, or set LARES_HOME to another folder`,
    };
  }
}

/** Only Linux limits how many folders can be watched. */
async function watchCheck(): Promise<Check[]> {
  if (platform() !== "linux") return [];
  const name = "file watches";
  try {
    const watches = Number(await readFile("/proc/sys/fs/inotify/max_user_watches", "utf8"));
    const enough = watches >= comfortableWatches;
    const hint = `; for large workspaces: sysctl fs.inotify.max_user_watches=524288`;
    return [{ name, state: enough ? "ok" : "warning", detail: `${watches} folders${enough ? "" : hint}` }];
  } catch (error) {
    return [{ name, state: "warning", detail: `the limit cannot be read: ${messageOf(error)}` }];
  }
}

async function sandboxCheck(probe: ReturnType<CommandContext["ports"]["probeSandbox"]>): Promise<Check> {
  const name = "sandbox";
  try {
    const { ok, detail } = await probe;
    return { name, state: ok ? "ok" : "failed", detail };
  } catch (error) {
    return { name, state: "failed", detail: messageOf(error) };
  }
}
