import { exitCodes, UsageError, type CommandContext } from "../command.ts";
import { oneLine } from "../render/foreign.ts";

/** Lists the models that can be fetched, or fetches one and prints how to use it. */
export async function models(
  { ports, terminal }: CommandContext,
  [verb = "list", name, ...rest]: readonly string[],
  { json }: { readonly json?: boolean },
): Promise<number> {
  if (verb === "list" && name === undefined) {
    const known = ports.models();
    if (json === true) terminal.json(known);
    else
      for (const { name, title, licence, megabytes } of known)
        terminal.print(`${name}  ${title}; ${megabytes} MB, ${licence}`);
    return exitCodes.ok;
  }
  if (verb !== "fetch") throw new UsageError(`There is no command "${verb}" here. Use one of list, fetch.`);
  const model = ports.models().find((each) => each.name === name);
  if (model === undefined || rest.length > 0) {
    const names = ports.models().map((each) => each.name);
    throw new UsageError(`The name of a model is missing. Use one of ${names.join(", ")}.`);
  }
  const { path, fetched, document, runtime } = await terminal.progress(
    `fetching ${model.name} (${model.megabytes} MB)`,
    ports.fetchModel(model.name, terminal.interrupted),
  );
  const setting = `memory: { embedder: ${model.name} }`;
  if (json === true) {
    terminal.json({ name: model.name, path, fetched, runtime, document, setting });
    return exitCodes.ok;
  }
  terminal.print(`${model.name} ${fetched ? "was fetched to" : "was already fetched:"} ${oneLine(path)}`);
  if (!runtime) {
    terminal.print("It needs onnxruntime-node, which is not installed next to lares yet. Run:");
    terminal.print("  npm install -g onnxruntime-node");
    terminal.print("In a checkout of Lares: npm install --no-save onnxruntime-node");
  }
  terminal.print(`To use it, write in ${oneLine(document)}:`);
  terminal.print(`  ${setting}`);
  return exitCodes.ok;
}
