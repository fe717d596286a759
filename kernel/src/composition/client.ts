import { realpath } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Emitter } from "../base/emitter.ts";
import type { Log } from "../base/log.ts";
import type { ConnectOptions, KernelConnection } from "../cli/ports.ts";
import { systemClock } from "../platform/clock.ts";
import { lockHolder } from "../platform/processes/lock.ts";
import { joinKernel, type ReachOutcome } from "../front/join-kernel.ts";
import { connectLocal, type LocalSocket } from "../platform/sockets/socket.ts";
import { kernelLogTail, startKernel, type Program } from "../platform/processes/spawn-kernel.ts";
import { SilenceWatch } from "./silence.ts";
import { stateFolderOf } from "../platform/files/state-folder.ts";
import { createEndpoint } from "../protocol/v1/endpoint.ts";
import { kernelFrameLimits } from "../protocol/framing/limits.ts";
import { serverNotifications } from "../protocol/v1/notifications.ts";
import { hasSystemNotifications } from "../platform/system-notifications.ts";

/** Without an answer for this long, a kernel counts as silent. */
const silentAfterMs = 2_000;

/** Connects to the workspace's kernel as a client, and starts the kernel if it is not running. */
export async function connectToKernel(
  options: ConnectOptions,
  program: Program,
  log: Log,
): Promise<KernelConnection> {
  const root = await realpath(options.folder);
  const stateFolder = await stateFolderOf([root], process.env);
  const tell = (isSilent: boolean): void => {
    if (!isSilent) return options.silence?.(null);
    const said = (pid: number | "unknown" | null): void =>
      options.silence?.({ folder: root, pid: typeof pid === "number" ? pid : null });
    lockHolder(join(stateFolder, "kernel.lock")).then(said, () => said(null));
  };
  const socket = await joinKernel<LocalSocket>({
    reach: async (): Promise<ReachOutcome<LocalSocket>> => {
      const outcome = await answeredSoon(connectLocal(stateFolder), tell);
      return outcome.kind === "connected" ? { kind: "connected", connection: outcome.socket } : outcome;
    },
    start: () => startKernel(program, { stateFolder, roots: [root], keep: false }),
    delay: (milliseconds) => delay(milliseconds),
    monotonic: () => performance.now(),
    logTail: () => kernelLogTail(stateFolder, 2_000),
    isCancelled: () => false,
  });
  if (socket === null) throw new Error("Joining the kernel was cancelled.");
  const endpoint = createEndpoint({ source: socket, sink: socket, log, frameLimits: kernelFrameLimits });
  const news = new Emitter<{ method: string; params: unknown }>();
  for (const method of Object.keys(serverNotifications)) {
    endpoint.onNotification(method, (params) => news.emit({ method, params }));
  }
  endpoint.onNotification("$/progress", (params) => news.emit({ method: "$/progress", params }));
  // Only clients that show progress use it; for the others the cost is small.
  endpoint.onStandardRequest("window/workDoneProgress/create", () => null);
  endpoint.listen();
  const initialized = endpoint.request("initialize", {
    processId: process.pid,
    rootUri: pathToFileURL(root).href,
    capabilities: { window: { workDoneProgress: true } },
    initializationOptions: {
      lares: {
        approvals: "client",
        notifications: hasSystemNotifications(process) ? ["terminal", "os"] : ["terminal"],
        ...(options.trusted === undefined ? {} : { trusted: options.trusted }),
      },
    },
  });
  await answeredSoon(initialized, tell);
  endpoint.notifyStandard("initialized", {});
  const watch = new SilenceWatch({
    clock: systemClock,
    ping: () => endpoint.request("lares/status", {}),
    tell,
  });
  void endpoint.closed.then(() => watch[Symbol.dispose]());
  return {
    request: (method, params) => watch.during(endpoint.request(method, params)),
    onNotification: (listener) => news.on(({ method, params }) => listener(method, params)),
    closed: endpoint.closed.then(() => ({ reason: "the kernel ended" })),
    [Symbol.asyncDispose]: async () => {
      watch[Symbol.dispose]();
      endpoint.end();
    },
  };
}

/** Tells when what a kernel answers at once is not answered after a while, and when it is. */
async function answeredSoon<Answer>(
  answer: Promise<Answer>,
  tell: (isSilent: boolean) => void,
): Promise<Answer> {
  let isSilent = false;
  using _timer = systemClock.timer(silentAfterMs, () => tell((isSilent = true)));
  const answered = await answer;
  if (isSilent) tell(false);
  return answered;
}
