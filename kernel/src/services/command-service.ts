import { LaresError, notFound } from "../base/errors.ts";
import { isJsonObject } from "../base/json.ts";
import { checkPerson, type Principal } from "../base/vocabulary/principal.ts";
import { canBeAskedFor, listedTitle, type NamedAction } from "../base/vocabulary/named-action.ts";
import type { AgentDefinition, CommandDefinition } from "../base/vocabulary/agent-definition.ts";
import type { ToolResult } from "../base/vocabulary/tool-result.ts";
import type { CommandService } from "./commands.ts";
import type { ConversationService } from "./conversations.ts";

type Args = Record<string, unknown>;

interface Waits {
  readonly signal: AbortSignal;
}

interface CommandPorts {
  readonly agents: {
    definitions(): readonly AgentDefinition[];
    /** Throws NotFound. */
    get(agent: string): {
      callTool(name: string, args: Args, by: Principal, options: Waits): Promise<unknown>;
    };
  };
  readonly tools: {
    call(agent: string, name: string, args: unknown, by: Principal, options: Waits): Promise<ToolResult>;
    /** Throws ToolError if the arguments do not fit the schema. */
    check(caller: string, tool: string, parameters: Record<string, unknown>, args: unknown): Promise<void>;
    /** Returns what a guest's answer to a call says. */
    completed(agent: string, name: string, answer: unknown): Promise<ToolResult>;
  };
  readonly conversations: Pick<ConversationService, "open" | "runPrompt">;
}

/** The name by which a program is asked to run a command; no tool can have it. */
const handlerOf = (name: string): string => `command:${name}`;

/** A named action is a command too if a person can be asked for its parameters. */
const isCommand = ({ parameters }: NamedAction): boolean => canBeAskedFor(parameters);

/** A command that an agent offers: a function of its program, or a text that is sent to its mind. */
export function createCommandService({ agents, tools, conversations }: CommandPorts): CommandService {
  const enabled = () => agents.definitions().filter(({ enabled: isEnabled }) => isEnabled);
  return {
    list: () =>
      enabled().flatMap(({ id, commands = [], actions = [] }) =>
        [
          ...commands.map(({ name, title, description, parameters }) => ({
            agent: id,
            name,
            title,
            description,
            ...(parameters === undefined ? {} : { parameters }),
          })),
          ...actions.filter(isCommand).map(({ name, title, description, parameters }) => ({
            agent: id,
            name,
            title: listedTitle(title),
            description,
            parameters,
          })),
        ].filter(({ name }, index, all) => all.findIndex((each) => each.name === name) === index),
      ),
    run: async (by, agent, name, args, signal) => {
      checkPerson(by, "run a command");
      const definition = enabled().find(({ id }) => id === agent);
      if (definition === undefined) throw notFound("agent", agent);
      const command = definition.commands?.find((each) => each.name === name);
      if (command === undefined) {
        if (definition.actions?.some((action) => action.name === name && isCommand(action)) === true)
          return await tools.call(agent, name, args, by, { signal });
        throw notFound("command", `${agent}/${name}`);
      }
      const given = args ?? {};
      if (!isJsonObject(given))
        throw new LaresError("ToolError", `${agent}/${name}: arguments must be an object.`);
      if (command.parameters !== undefined)
        await tools.check("user", `${agent}/${name}`, command.parameters, given);
      return "prompt" in command.runs
        ? await prompted(by, agent, command, command.runs.prompt.text, given)
        : await tools.completed(
            agent,
            name,
            await agents.get(agent).callTool(handlerOf(command.runs.handler), given, by, { signal }),
          );
    },
  };

  async function prompted(
    by: Principal,
    agent: string,
    { title }: CommandDefinition,
    prompt: string,
    args: Record<string, unknown>,
  ): Promise<ToolResult> {
    const { id } = await conversations.open(by, { agent, title });
    const said = Object.keys(args).length === 0 ? {} : { said: JSON.stringify(args) };
    await conversations.runPrompt(by, { id, prompt, ...said });
    return { status: "success", value: { conversation: id } };
  }
}
