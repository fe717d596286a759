import { LaresError } from "../../base/errors.ts";
import { prepareBounds } from "../prepare/bounds.ts";

/** The sandbox's own fault: the same program may start another time. */
export const sandboxFault = (message: string): LaresError =>
  new LaresError("AgentError", message, { reason: "sandbox" });

/** The program's fault, found before it is even sent to the host. */
export const moduleTooLarge = (bytes: number): LaresError =>
  new LaresError(
    "AgentError",
    `The module is ${bytes} bytes; at most ${prepareBounds.maxModuleBytes} are allowed (maxModuleBytes).`,
    { reason: "program", fault: "tooLarge" },
  );
