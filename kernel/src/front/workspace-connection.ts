import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { messageOf } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import { connectLocal } from "../platform/sockets/socket.ts";
import { stderrLog } from "../platform/processes/stdio.ts";
import { kernelLogTail, startKernel } from "../platform/processes/spawn-kernel.ts";
import { stateFolderOf } from "../platform/files/state-folder.ts";
import type { Delivery } from "../protocol/framing/frame-writer.ts";
import { faultCodes, isRequest, type RpcMessage } from "../protocol/messages.ts";
import { workspaceRootsOf } from "../protocol/v1/workspace-roots.ts";
import type { FrontOptions } from "./options.ts";
import { joinKernel, type ReachOutcome } from "./join-kernel.ts";
import { KernelLoop, type KernelConnection } from "./kernel-loop.ts";
import { Relay, type Outgoing } from "./relay.ts";
import { Session } from "./session.ts";

/** The session after `initialize`. Loaded after the answer, because it takes time to load. */
export interface WorkspaceConnection extends Disposable {
  fromClient(message: RpcMessage, body: Uint8Array): void;
  pauseKernel(isPaused: boolean): void;
  /** The process id that the client named; null if it named none. */
  readonly clientProcessId: number | null;
}

interface WorkspaceConnectionPorts {
  toClient(message: Outgoing, delivery?: Delivery): void;
  pauseClient(isPaused: boolean): void;
}

/** Bytes of a kernel's log that are shown if it cannot be started. */
const logTailBytes = 2_000;

export async function openWorkspaceConnection(
  initializeParams: unknown,
  options: FrontOptions,
  ports: WorkspaceConnectionPorts,
): Promise<WorkspaceConnection> {
  const { roots, refused } = workspaceRootsOf(initializeParams, process.platform);
  for (const reason of refused) stderrLog.warn(reason);
  const processId = isJsonObject(initializeParams) ? initializeParams["processId"] : null;
  const clientProcessId =
    typeof processId === "number" && Number.isSafeInteger(processId) && processId > 0 ? processId : null;
  if (roots.length === 0) {
    const reason =
      refused[0] ?? "No workspace is open. Name one in workspaceFolders or rootUri of initialize.";
    return withoutKernel(reason, clientProcessId, ports);
  }
  const session = new Session(initializeParams);
  const relay = new Relay(session, (message, delivery) => ports.toClient(message, delivery), stderrLog);
  let isDisposed = false;
  const join = (): Promise<KernelConnection | null> => joinWorkspace(roots, options, () => isDisposed);
  const loop = new KernelLoop(
    relay,
    { join, delay: (ms) => delay(ms), monotonic: () => performance.now(), log: stderrLog },
    (isPaused) => ports.pauseClient(isPaused),
  );
  loop.run().catch((error: unknown) => stderrLog.error(messageOf(error)));
  return {
    clientProcessId,
    fromClient: (message, body) => relay.fromClient(message, body),
    pauseKernel: (isPaused) => loop.pauseKernel(isPaused),
    [Symbol.dispose]() {
      isDisposed = true;
      loop[Symbol.dispose]();
    },
  };
}

async function joinWorkspace(
  roots: readonly string[],
  options: FrontOptions,
  isCancelled: () => boolean,
): Promise<KernelConnection | null> {
  const stateFolder = await stateFolderOf(roots, options.environment);
  return joinKernel<KernelConnection>({
    async reach(): Promise<ReachOutcome<KernelConnection>> {
      const outcome = await connectLocal(stateFolder);
      if (outcome.kind !== "connected") return outcome;
      return { kind: "connected", connection: { stream: outcome.socket, pid: outcome.kernelPid } };
    },
    start: () => startKernel(options.program, { stateFolder, roots, keep: options.keep ?? false }),
    delay: (milliseconds) => delay(milliseconds),
    monotonic: () => performance.now(),
    logTail: () => kernelLogTail(stateFolder, logTailBytes),
    isCancelled,
  });
}

/** The language features that `initialize` announces. */
const languageRequests = new Set(
  ["completion", "hover", "inlayHint", "codeLens", "codeAction", "documentSymbol", "definition"]
    .concat(["rename", "prepareRename"])
    .map((feature) => `textDocument/${feature}`),
);

/**
 * Answers for a client without a workspace: requests fail with the reason. Language features answer null instead,
 * because editors request them by themselves and show each error.
 */
function withoutKernel(
  reason: string,
  clientProcessId: number | null,
  ports: WorkspaceConnectionPorts,
): WorkspaceConnection {
  return {
    clientProcessId,
    fromClient(message) {
      if (!isRequest(message)) return;
      const { id, method } = message;
      if (languageRequests.has(method)) {
        ports.toClient({ jsonrpc: "2.0", id, result: null });
        return;
      }
      const error =
        method.startsWith("lares/") || method === "workspace/executeCommand"
          ? {
              code: faultCodes.requestFailed,
              message: `${method} needs a workspace. ${reason}`,
              data: { method },
            }
          : { code: faultCodes.methodNotFound, message: `There is no request "${method.slice(0, 200)}".` };
      ports.toClient({ jsonrpc: "2.0", id, error });
    },
    pauseKernel() {},
    [Symbol.dispose]() {},
  };
}
