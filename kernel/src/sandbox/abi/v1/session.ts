import type { CpuBudget } from "../../../base/cpu-budget.ts";
import type { Emitter } from "../../../base/emitter.ts";
import { connectGuest, type ConnectionPorts, type GuestConnection, type GuestPipe } from "./connection.ts";
import { type LimitBreach, type Usage, watchGuest, type WatchedLimits } from "./watch.ts";

/** A guest that speaks the ABI, with its limits enforced. */
export interface GuestSession {
  readonly request: GuestConnection["request"];
  readonly usage: Emitter<Usage>;
  /** Resolves when the guest has ended; `limit` names the limit that terminated it, if any. */
  readonly ended: Promise<{
    readonly reason: string;
    readonly limit?: string;
    readonly value?: number;
    readonly isSandboxFault?: boolean;
  }>;
  /** Restarts the time limits of the open requests. */
  restartBudget(): void;
  /** The budget for work that the kernel does on the guest's behalf. */
  readonly cpu: CpuBudget;
  kill(reason?: string): Promise<void>;
}

interface SessionGuest extends GuestPipe {
  readonly usage: Emitter<Usage>;
}

/** Connects a guest that was just started, and enforces its limits until it ends. */
export function openGuestSession(
  guest: SessionGuest,
  ports: ConnectionPorts,
  limits: WatchedLimits,
): GuestSession {
  const connection = connectGuest(guest, ports);
  let breach: LimitBreach | null = null;
  const watch = watchGuest({
    connection,
    usage: guest.usage,
    exited: guest.exited,
    limits,
    clock: ports.clock,
    onLimit: (reached) => {
      breach = reached;
      void guest.kill(reached.sentence);
    },
  });
  return {
    request: (method, params) => connection.request(method, params),
    usage: guest.usage,
    ended: guest.exited.then((exit) =>
      breach === null ? exit : { reason: exit.reason, limit: breach.limit, value: breach.value },
    ),
    restartBudget: () => watch.restartBudget(),
    cpu: watch.cpu,
    kill: (reason) => guest.kill(reason),
  };
}
