import type { Kernel, KernelError } from "../kernel/kernel.ts";
import type { ToolResult } from "../protocol.ts";

/** A command that an agent offers to a person, as `/name` in a conversation. */
interface MindCommand {
  readonly agent: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The parameter that receives the text after the command's name. */
  readonly textParameter?: string;
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
      const {
        agent: of,
        name,
        title,
        description,
        parameters,
      } = one as Partial<MindCommand> & {
        readonly parameters?: Parameters;
      };
      if (of !== agent || typeof name !== "string") return [];
      const textParameter = textParameterOf(parameters);
      return [
        {
          agent,
          name,
          title: title ?? name,
          description: description ?? "",
          ...(textParameter === undefined ? {} : { textParameter }),
        },
      ];
    });
  } catch (error) {
    if ((error as Partial<KernelError>).code === methodNotFound) return [];
    throw error;
  }
}

interface Parameters {
  readonly required?: unknown;
  readonly properties?: Readonly<Record<string, { readonly type?: unknown } | undefined>>;
}

/** Returns the only parameter that has to be given, if it is a text. */
function textParameterOf({ required, properties = {} }: Parameters = {}): string | undefined {
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  const [name] = names;
  if (names.length !== 1 || typeof name !== "string" || !Object.hasOwn(properties, name)) return undefined;
  return properties[name]?.type === "string" ? name : undefined;
}

/** Runs a command with the text after its name. Returns a sentence about the outcome. */
export async function runCommand(kernel: Kernel, agent: string, name: string, text: string): Promise<string> {
  const known = text === "" ? [] : await commandsOf(kernel, agent);
  const parameter = known.find((command) => command.name === name)?.textParameter ?? "text";
  const result = (await (kernel.request as unknown as Untyped).call(kernel, "lares/commands/run", {
    agent,
    name,
    arguments: text === "" ? {} : { [parameter]: text },
  })) as ToolResult;
  if (result.status === "error") throw new Error(result.message);
  if (result.status === "needs_approval") return "It proposes a change, which waits for you.";
  const { state } = (result.value ?? {}) as { readonly state?: unknown };
  if (state === "PendingApproval") return "It proposes a change, which waits for you.";
  return typeof result.value === "string" && result.value !== "" ? result.value : `/${name} is done.`;
}
