import type { CpuBudget } from "../../../base/cpu-budget.ts";
import type { Emitter } from "../../../base/emitter.ts";
import { connectGuest, type ConnectionPorts, type GuestConnection, type GuestPipe } from "./connection.ts";
import { type LimitBreach, type Usage, watchGuest, type WatchedLimits } from "./watch.ts";

/** A guest that speaks the ABI and is held to its limits. */
export interface GuestSession {
  readonly request: GuestConnection["request"];
  readonly usage: Emitter<Usage>;
  /** Resolves once the guest is gone; `limit` names the one that ended it. */
  readonly ended: Promise<{
    readonly reason: string;
    readonly limit?: string;
    readonly value?: number;
    readonly isSandboxFault?: boolean;
  }>;
  /** What is asked of it may take its time anew, from now on. */
  restartBudget(): void;
  /** For what the kernel computes on its behalf. */
  readonly cpu: CpuBudget;
  kill(reason?: string): Promise<void>;
}

export interface SessionGuest extends GuestPipe {
  readonly usage: Emitter<Usage>;
}

/** Connects a guest that was just started, and watches it until it ends. */
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
