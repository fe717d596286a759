import { assign, createMachine, type ActorRefFrom, type SnapshotFrom } from "xstate";
import { agentIs } from "../../base/vocabulary/agent-words.ts";
import type { AgentCommand, AgentState } from "../../base/vocabulary/agent.ts";

/**
 * The lifecycle of one agent as pure data: the transitions between states. The supervisor performs each state's
 * work.
 *
 * Unloaded → Initializing → Active → ShuttingDown → Unloaded is the normal cycle. Suspended: the agent's events
 * wait (by a user's command or the circuit breaker). Error: its program cannot run at all.
 */
interface LifecycleContext {
  /** A disabled agent stays in Unloaded and nothing wakes it. */
  readonly enabled: boolean;
  /** Why it is Suspended or in Error. */
  readonly reason: string | null;
  /** The state after ShuttingDown. */
  readonly after: "Unloaded" | "Suspended" | "Initializing" | "Error";
}

export type LifecycleEvent =
  | { type: "enable" }
  | { type: "disable" }
  | { type: "suspend"; reason: string }
  | { type: "resume" }
  | { type: "reload" }
  /** Work arrived for an agent that is not loaded. */
  | { type: "wake" }
  /** The guest answered `startup`. */
  | { type: "started" }
  /** The program cannot be prepared or throws at load, or its manifest is invalid: a retry does not help. */
  | { type: "broken"; reason: string }
  /** The guest ended unexpectedly. */
  | { type: "crashed" }
  /** The guest is to be unloaded: it is idle, makes room, or did not leave a job in time. The next work wakes it. */
  | { type: "unload" }
  /** The guest is gone. */
  | { type: "stopped" };

export const lifecycleMachine = createMachine({
  types: {} as { context: LifecycleContext; events: LifecycleEvent; input: { enabled: boolean } },
  id: "agent",
  context: ({ input }) => ({ enabled: input.enabled, reason: null, after: "Unloaded" }),
  initial: "Unloaded",
  states: {
    Unloaded: {
      entry: assign({ after: "Unloaded" }),
      on: {
        enable: {
          guard: ({ context }) => !context.enabled,
          actions: assign({ enabled: true, reason: null }),
        },
        disable: {
          guard: ({ context }) => context.enabled,
          actions: assign({ enabled: false, reason: null }),
        },
        wake: { guard: ({ context }) => context.enabled, target: "Initializing" },
        reload: { guard: ({ context }) => context.enabled, target: "Initializing" },
        suspend: {
          guard: ({ context }) => context.enabled,
          target: "Suspended",
          actions: assign({ reason: ({ event }) => event.reason }),
        },
        broken: {
          guard: ({ context }) => context.enabled,
          target: "Error",
          actions: assign({ reason: ({ event }) => event.reason }),
        },
      },
    },
    Initializing: {
      entry: assign({ reason: null }),
      on: {
        started: "Active",
        crashed: "Unloaded",
        broken: {
          target: "ShuttingDown",
          actions: assign({ after: "Error", reason: ({ event }) => event.reason }),
        },
        disable: {
          target: "ShuttingDown",
          actions: assign({ after: "Unloaded", enabled: false }),
        },
        suspend: {
          target: "ShuttingDown",
          actions: assign({ after: "Suspended", reason: ({ event }) => event.reason }),
        },
      },
    },
    Active: {
      on: {
        crashed: "Unloaded",
        unload: { target: "ShuttingDown", actions: assign({ after: "Unloaded" }) },
        disable: { target: "ShuttingDown", actions: assign({ after: "Unloaded", enabled: false }) },
        suspend: {
          target: "ShuttingDown",
          actions: assign({ after: "Suspended", reason: ({ event }) => event.reason }),
        },
        reload: { target: "ShuttingDown", actions: assign({ after: "Initializing" }) },
        broken: {
          target: "ShuttingDown",
          actions: assign({ after: "Error", reason: ({ event }) => event.reason }),
        },
      },
    },
    ShuttingDown: {
      on: {
        stopped: [
          { guard: ({ context }) => context.after === "Suspended", target: "Suspended" },
          { guard: ({ context }) => context.after === "Initializing", target: "Initializing" },
          { guard: ({ context }) => context.after === "Error", target: "Error" },
          { target: "Unloaded" },
        ],
      },
    },
    Suspended: {
      on: {
        resume: "Initializing",
        reload: "Initializing",
        disable: { target: "Unloaded", actions: assign({ enabled: false, reason: null }) },
        broken: { target: "Error", actions: assign({ reason: ({ event }) => event.reason }) },
      },
    },
    Error: {
      on: {
        reload: "Initializing",
        disable: { target: "Unloaded", actions: assign({ enabled: false, reason: null }) },
        broken: { actions: assign({ reason: ({ event }) => event.reason }) },
      },
    },
  },
});

export type LifecycleActor = ActorRefFrom<typeof lifecycleMachine>;
type LifecycleSnapshot = SnapshotFrom<typeof lifecycleMachine>;

export function stateOf(snapshot: LifecycleSnapshot): AgentState {
  return snapshot.value as AgentState;
}

/** The error message for a command that is not legal now; null if it is legal. */
export function refusal(snapshot: LifecycleSnapshot, command: AgentCommand): string | null {
  const event: LifecycleEvent = command === "suspend" ? { type: command, reason: "" } : { type: command };
  if (snapshot.can(event)) return null;
  const state = stateOf(snapshot);
  const isOff = state === "Unloaded" && !snapshot.context.enabled;
  return `"${command}" is not possible while the agent ${isOff ? "is off" : agentIs(state)}.`;
}
