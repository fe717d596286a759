import {
  errorLines,
  exitCodes,
  folderAndVerb,
  folderNamed,
  UsageError,
  withReadyKernel,
  type CommandContext,
} from "../command.ts";
import type { KernelClient } from "../kernel-client.ts";
import { agentIdOf } from "../one-named.ts";
import { renderAction } from "../render/action.ts";
import { manyLines, oneLine } from "../render/foreign.ts";
import { wrap } from "../render/width.ts";

interface ToolsOptions {
  readonly agent?: string;
  readonly json?: boolean;
}

export async function tools(
  context: CommandContext,
  words: readonly string[],
  options: ToolsOptions,
): Promise<number> {
  const { folder, verb, rest } = folderAndVerb(words, ["list", "call"], "list");
  const call = verb === "call" ? callOf(rest) : null;
  return withReadyKernel(context, { folder: await folderNamed(folder) }, (kernel) =>
    call === null ? list(context, kernel, options) : run(context, kernel, call, options),
  );
}

async function list(
  { terminal }: CommandContext,
  kernel: KernelClient,
  options: ToolsOptions,
): Promise<number> {
  const found = await kernel.tools(await agentIdOf(kernel, options.agent));
  if (options.json === true) {
    terminal.json(found);
    return exitCodes.ok;
  }
  const { style, width } = terminal.surface;
  if (found.length === 0) terminal.print(style.dim("No agent in this folder offers a tool."));
  for (const { agent, name, description, parameters } of found) {
    const properties = parameters["properties"];
    const names = typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
    const required = Array.isArray(parameters["required"]) ? parameters["required"] : [];
    const shown = names.map((key) => (required.includes(key) ? oneLine(key) : `${oneLine(key)}?`)).join(", ");
    terminal.print([
      `${style.cyan(oneLine(agent))}/${style.bold(oneLine(name))}  ${style.dim(`{ ${shown} }`)}`,
      ...wrap(oneLine(description), width - 2).map((line) => `  ${line}`),
    ]);
  }
  return exitCodes.ok;
}

interface Call {
  readonly agent: string;
  readonly name: string;
  readonly args: unknown;
}

async function run(
  { terminal }: CommandContext,
  kernel: KernelClient,
  call: Call,
  options: ToolsOptions,
): Promise<number> {
  const agent = (await agentIdOf(kernel, call.agent)) ?? call.agent;
  const result = await terminal.progress(`${call.name} runs`, kernel.callTool(agent, call.name, call.args));
  const code = result.status === "error" ? exitCodes.failed : exitCodes.ok;
  if (options.json === true) {
    terminal.json(result);
    return code;
  }
  switch (result.status) {
    case "success":
      terminal.print(manyLines(JSON.stringify(result.value, null, 2) ?? "null"));
      break;
    case "error":
      terminal.warn(errorLines(result.message, terminal));
      break;
    case "needs_approval":
      terminal.print([
        oneLine(result.reason),
        ...renderAction(result.action, terminal.surface, { contents: "none" }),
        `See all changes: lares actions show ${result.action.id}`,
        `Approve it: lares actions approve ${result.action.id} --digest ${result.action.digest}`,
      ]);
      break;
  }
  return code;
}

function callOf([tool, text = "{}", ...more]: readonly string[]): Call {
  const slash = tool?.lastIndexOf("/") ?? -1;
  if (tool !== undefined && slash === -1 && /^[A-Za-z][\w-]*$/.test(text))
    throw new UsageError(
      `An agent and its tool are joined by a slash. Write lares tools call ${[`${tool}/${text}`, ...more].join(" ")}.`,
    );
  if (tool === undefined || slash < 1 || more.length > 0) {
    throw new UsageError(
      `The name of a tool is missing. Write lares tools call <agent>/<tool> '{"argument": 1}'.`,
    );
  }
  try {
    return { agent: tool.slice(0, slash), name: tool.slice(slash + 1), args: JSON.parse(text) as unknown };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new UsageError(`The arguments are not valid JSON: ${error.message}`);
  }
}
