import type { Kernel, KernelError } from "../kernel/kernel.ts";
import type { ToolResult } from "../protocol.ts";

/** A command that an agent offers to a person, as `/name` in a conversation. */
export interface MindCommand {
  readonly agent: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
}

/** The number of JSON-RPC for a method that does not exist. */
const methodNotFound = -32_601;

/** Commands are not in every kernel: these requests are not in the types of one that has none. */
type Untyped = (method: string, params: object) => Promise<unknown>;

/** Returns the commands of an agent; none if the kernel knows no commands. */
export async function commandsOf(kernel: Kernel, agent: string): Promise<MindCommand[]> {
  try {
    const found = await (kernel.request as unknown as Untyped).call(kernel, "lares/commands/list", {});
    return (Array.isArray(found) ? found : []).flatMap((one: unknown) => {
      const { agent: of, name, title, description } = one as Partial<MindCommand>;
      if (of !== agent || typeof name !== "string") return [];
      return [{ agent, name, title: title ?? name, description: description ?? "" }];
    });
  } catch (error) {
    if ((error as Partial<KernelError>).code === methodNotFound) return [];
    throw error;
  }
}

/** Runs a command. Returns a sentence about how it ended. */
export async function runCommand(kernel: Kernel, agent: string, name: string, text: string): Promise<string> {
  const result = (await (kernel.request as unknown as Untyped).call(kernel, "lares/commands/run", {
    agent,
    name,
    arguments: text === "" ? {} : { text },
  })) as ToolResult;
  if (result.status === "error") throw new Error(result.message);
  if (result.status === "needs_approval") return "It proposes a change, which waits for you.";
  return typeof result.value === "string" && result.value !== "" ? result.value : `/${name} is done.`;
}
