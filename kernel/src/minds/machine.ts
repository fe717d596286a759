import { createMachine, transition, type SnapshotFrom } from "xstate";
import { illegalTransition } from "../base/errors.ts";
import type { Process, ProcessState } from "../base/vocabulary/conversation.ts";

/** Events of a process. */
export type ProcessEvent =
  /** A place is free for it. */
  | "start"
  /** A message came for a channel that had nothing to do. */
  | "wake"
  /** A channel has answered. */
  | "rest"
  /** An interactive worker has reported, and waits for a follow-up. */
  | "report"
  /** An interactive worker gets no follow-up any more. */
  | "dismiss"
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
        report: "WaitingForInput",
        ask: "WaitingForApproval",
        finish: "Done",
        fail: "Failed",
        cancel: "Cancelled",
      },
    },
    WaitingForApproval: { on: { decided: "Running", fail: "Failed", cancel: "Cancelled" } },
    WaitingForInput: { on: { wake: "Waiting", dismiss: "Done", cancel: "Cancelled", fail: "Failed" } },
    Done: {},
    Failed: { on: { wake: "Waiting" } },
    Cancelled: { on: { wake: "Waiting" } },
  },
});

type Snapshot = SnapshotFrom<typeof machine>;

/** Events that only an interactive worker takes. */
const interactiveEvents: ReadonlySet<ProcessEvent> = new Set(["report", "dismiss"]);

/** Returns the state after an event. IllegalTransition if it cannot happen in this state, or to this kind. */
export function nextState(
  kind: "channel" | "interactive" | "other",
  state: ProcessState,
  event: ProcessEvent,
): ProcessState {
  const snapshot = machine.resolveState({ value: state });
  const isOver = kind !== "channel" && (state === "Failed" || state === "Cancelled");
  const isOthers = kind !== "interactive" && interactiveEvents.has(event);
  const next: Snapshot | null =
    isOver || isOthers || !snapshot.can({ type: event })
      ? null
      : transition(machine, snapshot, { type: event })[0];
  if (next === null)
    throw illegalTransition(state, `A process in the state ${state} cannot take "${event}".`);
  return next.value as ProcessState;
}

/** Returns how the machine treats a process. */
export function roleOf({ kind, interactive }: Pick<Process, "kind" | "interactive">) {
  return kind === "channel" ? "channel" : interactive === true ? "interactive" : "other";
}
