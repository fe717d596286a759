import {
  exitCodes,
  folderAndVerb,
  folderNamed,
  UsageError,
  withReadyKernel,
  type CommandContext,
} from "../command.ts";
import type { KernelClient } from "../kernel-client.ts";
import { oneLine } from "../render/foreign.ts";
import { counted } from "../render/quantities.ts";

interface TypesOptions {
  readonly json?: boolean;
}

export async function types(
  context: CommandContext,
  words: readonly string[],
  options: TypesOptions,
): Promise<number> {
  const { folder, verb, rest } = folderAndVerb(words, ["list", "export"], "list");
  const [type, ...more] = rest;
  if (more.length > 0) throw new UsageError(`Only one type is allowed. Remove ${more.join(" ")}.`);
  if (verb === "list" && type !== undefined)
    throw new UsageError(`"list" takes no type. Write lares types export ${type}.`);
  return withReadyKernel(context, { folder: await folderNamed(folder) }, (kernel) =>
    verb === "export" ? exported(context, kernel, type) : list(context, kernel, options),
  );
}

async function list(
  { terminal }: CommandContext,
  kernel: KernelClient,
  { json }: TypesOptions,
): Promise<number> {
  const found = await kernel.types();
  if (json === true) {
    terminal.json(found);
    return exitCodes.ok;
  }
  const { style } = terminal.surface;
  if (found.length === 0) terminal.print(style.dim("No agent of this folder shares values by types."));
  for (const { type, version, count, characters } of found) {
    const facts = `version ${version}, ${counted(count, "value")}, ${counted(characters, "character")}`;
    terminal.print(`${style.bold(oneLine(type))}  ${style.dim(facts)}`);
  }
  return exitCodes.ok;
}

/** Prints one document with the definitions and all values, of one type or of all. */
async function exported(
  { terminal }: CommandContext,
  kernel: KernelClient,
  type: string | undefined,
): Promise<number> {
  const known = await kernel.types();
  const wanted = type === undefined ? known : known.filter((each) => each.type === type);
  if (type !== undefined && wanted.length === 0) {
    const names = known.map((each) => each.type).join(", ") || "none";
    throw new UsageError(`No agent has used a type "${type}". There are these: ${names}.`);
  }
  const types = [];
  for (const { count: _count, characters: _characters, ...definition } of wanted)
    types.push({ ...definition, values: await kernel.typeValues(definition.type) });
  terminal.json(types);
  return exitCodes.ok;
}
