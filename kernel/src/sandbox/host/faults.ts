import { LaresError } from "../../base/errors.ts";
import { prepareBounds } from "../prepare/bounds.ts";

/** Returns an error for a fault of the sandbox itself. Starting the same program again may succeed. */
export const sandboxFault = (message: string): LaresError =>
  new LaresError("AgentError", message, { reason: "sandbox" });

/** Returns an error for a fault of the program that is found before the program is sent to the host. */
export const moduleTooLarge = (bytes: number): LaresError =>
  new LaresError(
    "AgentError",
    `The module is ${bytes} bytes; at most ${prepareBounds.maxModuleBytes} are allowed (maxModuleBytes).`,
    { reason: "program", fault: "tooLarge" },
  );
