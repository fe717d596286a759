import { realpath } from "node:fs/promises";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Emitter } from "../base/emitter.ts";
import type { Log } from "../base/log.ts";
import type { ConnectOptions, KernelConnection } from "../cli/ports.ts";
import { joinKernel, type ReachOutcome } from "../front/join-kernel.ts";
import { connectLocal, type LocalSocket } from "../platform/sockets/socket.ts";
import { kernelLogTail, startKernel, type Program } from "../platform/processes/spawn-kernel.ts";
import { stateFolderOf } from "../platform/files/state-folder.ts";
import { createEndpoint } from "../protocol/v1/endpoint.ts";
import { kernelFrameLimits } from "../protocol/framing/limits.ts";
import { serverNotifications } from "../protocol/v1/notifications.ts";
import { hasSystemNotifications } from "../platform/system-notifications.ts";

/** Connects to the workspace's kernel as a client, and starts the kernel if it is not running. */
export async function connectToKernel(
  options: ConnectOptions,
  program: Program,
  log: Log,
): Promise<KernelConnection> {
  const root = await realpath(options.folder);
  const stateFolder = await stateFolderOf([root], process.env);
  const socket = await joinKernel<LocalSocket>({
    reach: async (): Promise<ReachOutcome<LocalSocket>> => {
      const outcome = await connectLocal(stateFolder);
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
  await endpoint.request("initialize", {
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
  endpoint.notifyStandard("initialized", {});
  return {
    request: (method, params) => endpoint.request(method, params),
    onNotification: (listener) => news.on(({ method, params }) => listener(method, params)),
    closed: endpoint.closed.then(() => ({ reason: "the kernel ended" })),
    [Symbol.asyncDispose]: async () => endpoint.end(),
  };
}
