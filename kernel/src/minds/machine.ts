import { createMachine, initialTransition, transition, type SnapshotFrom } from "xstate";
import { illegalTransition } from "../base/errors.ts";
import type { ProcessState } from "../base/vocabulary/conversation.ts";

/** Events of a process. */
export type ProcessEvent =
  /** A place is free for it. */
  | "start"
  /** A message came for a channel that had nothing to do. */
  | "wake"
  /** A channel has answered. */
  | "rest"
  /** An action or a question of it waits for a person. */
  | "ask"
  /** The person has decided. */
  | "decided"
  | "finish"
  | "fail"
  | "cancel";

/** The states of a process as pure data. A channel continues with the next message after it failed or was cancelled; the others have ended. */
const machine = createMachine({
  types: {} as { events: { type: ProcessEvent } },
  id: "process",
  initial: "Waiting",
  states: {
    Waiting: { on: { start: "Running", fail: "Failed", cancel: "Cancelled" } },
    Running: {
      on: {
        rest: "WaitingForInput",
        ask: "WaitingForApproval",
        finish: "Done",
        fail: "Failed",
        cancel: "Cancelled",
      },
    },
    WaitingForApproval: { on: { decided: "Running", fail: "Failed", cancel: "Cancelled" } },
    WaitingForInput: { on: { wake: "Waiting", cancel: "Cancelled", fail: "Failed" } },
    Done: {},
    Failed: { on: { wake: "Waiting" } },
    Cancelled: { on: { wake: "Waiting" } },
  },
});

type Snapshot = SnapshotFrom<typeof machine>;

/** Returns the state after an event. IllegalTransition if it cannot happen in this state. */
export function nextState(kind: "channel" | "other", state: ProcessState, event: ProcessEvent): ProcessState {
  const snapshot = machine.resolveState({ value: state });
  const isOver = kind === "other" && (state === "Failed" || state === "Cancelled");
  const next: Snapshot | null =
    isOver || !snapshot.can({ type: event }) ? null : transition(machine, snapshot, { type: event })[0];
  if (next === null)
    throw illegalTransition(state, `A process in the state ${state} cannot take "${event}".`);
  return next.value as ProcessState;
}

/** The state in which a process begins. */
export const firstState = initialTransition(machine)[0].value as ProcessState;
