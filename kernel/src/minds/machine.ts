import { createMachine, transition } from "xstate";
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

/** Events that only an interactive worker takes. */
const interactiveEvents: ReadonlySet<ProcessEvent> = new Set(["report", "dismiss"]);

/** Transitions that were computed before. They never change, and XState builds an actor for each one. */
const known = new Map<string, ProcessState | null>();

/** Returns the state after an event. IllegalTransition if it cannot happen in this state, or to this kind. */
export function nextState(kind: Role, state: ProcessState, event: ProcessEvent): ProcessState {
  const key = `${kind} ${state} ${event}`;
  let next = known.get(key);
  if (next === undefined) known.set(key, (next = stateAfter(kind, state, event)));
  if (next === null)
    throw illegalTransition(state, `A process in the state ${state} cannot take "${event}".`);
  return next;
}

function stateAfter(kind: Role, state: ProcessState, event: ProcessEvent): ProcessState | null {
  const snapshot = machine.resolveState({ value: state });
  const isOver = kind !== "channel" && (state === "Failed" || state === "Cancelled");
  const isOthers = kind !== "interactive" && interactiveEvents.has(event);
  if (isOver || isOthers || !snapshot.can({ type: event })) return null;
  const [next] = transition(machine, snapshot, { type: event });
  return next.value as ProcessState;
}

type Role = "channel" | "interactive" | "other";

/** Returns how the machine treats a process. */
export function roleOf({ kind, interactive }: Pick<Process, "kind" | "interactive">): Role {
  return kind === "channel" ? "channel" : interactive === true ? "interactive" : "other";
}
