import type { Static } from "typebox";
import type { CommandName } from "../../protocol/v1/capabilities.ts";
import { commandShapes } from "../../protocol/v1/commands.ts";
import { checkParams } from "../../protocol/validate.ts";
import type { Session } from "../session/session.ts";

/** Runs a command of `workspace/executeCommand`; `argument` is the first of the request's arguments, unvalidated. */
export type Command = (argument: unknown, session: Session, signal: AbortSignal) => Promise<unknown>;

type ArgumentOf<Name extends CommandName> = Static<(typeof commandShapes)[Name]["params"]>;

/** Returns a command that validates its argument; InvalidParams if it is invalid. */
export function command<Name extends CommandName>(
  name: Name,
  run: (argument: ArgumentOf<Name>, session: Session, signal: AbortSignal) => Promise<unknown>,
): Command {
  const schema = commandShapes[name].params;
  return async (argument, session, signal) => {
    checkParams(name, schema, argument);
    return run(argument as ArgumentOf<Name>, session, signal);
  };
}
