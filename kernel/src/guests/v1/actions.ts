import type { Caller } from "../../agents/ports.ts";
import { unlessAborted } from "../../base/abort.ts";
import { notFound } from "../../base/errors.ts";
import type { Action, ProposalRequest } from "../../base/vocabulary/action.ts";
import type { actionCalls } from "../../protocol/guest/v1/actions.ts";
import type { GuestServices } from "../../protocol/guest/v1/calls.ts";
import type { ActionsOfAgents, ProposedAction } from "./ports.ts";

export interface ActionPorts {
  readonly actions: ActionsOfAgents;
  /** An action was proposed. */
  proposed(): void;
}

/** Returns an action with the details that this agent may see. */
const toldTo = (actions: ActionsOfAgents, { authority }: Caller, proposed: ProposedAction): Promise<Action> =>
  actions.answerTo(authority, proposed);

/** Proposes an action for the caller and all on whose behalf it acts. */
export async function propose(
  { actions, proposed: announce }: ActionPorts,
  { authority, bundleDigest, cpu, lineage }: Caller,
  proposal: ProposalRequest,
): Promise<ProposedAction> {
  const proposed = await actions.propose(authority, bundleDigest, proposal, cpu, lineage);
  announce();
  return proposed;
}

/** Returns another agent's action with the details that the caller may see. NotFound. */
export async function actionTold(actions: ActionsOfAgents, caller: Caller, id: string): Promise<Action> {
  const proposed = await actions.proposed(id);
  if (proposed === null) throw notFound("action", id);
  return toldTo(actions, caller, proposed);
}

/** The guest ABI's `actions/*`. */
export function actionServices(ports: ActionPorts): Pick<GuestServices<Caller>, keyof typeof actionCalls> {
  const { actions } = ports;
  const ownAction = async (caller: Caller, id: string): Promise<Action> => {
    const found = await actions.proposed(id);
    // Another agent's action is reported as missing.
    if (found === null || found.action.agent !== caller.agent) throw notFound("action", id);
    return toldTo(actions, caller, found);
  };
  return {
    "actions/preview": async (caller, proposal) =>
      toldTo(
        actions,
        caller,
        await actions.preview(caller.authority, caller.bundleDigest, proposal, caller.cpu),
      ),
    "actions/propose": async (caller, proposal) =>
      toldTo(actions, caller, await propose(ports, caller, proposal)),
    "actions/get": (caller, { id }) => ownAction(caller, id),
    "actions/settled": async (caller, { id }) => {
      await ownAction(caller, id);
      await unlessAborted(actions.settled(id), caller.signal);
      return ownAction(caller, id);
    },
    "actions/withdraw": async (caller, { id }) => {
      await ownAction(caller, id);
      await actions.withdraw(id, "Its agent withdrew it.");
      return ownAction(caller, id);
    },
  };
}
