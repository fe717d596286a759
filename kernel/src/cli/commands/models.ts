import { isLaresError } from "../../base/errors.ts";
import type { ModelTestResult } from "../../base/vocabulary/model-listing.ts";
import { extensionIdPattern } from "../../base/vocabulary/extension.ts";
import { exitCodes, UsageError, type CommandContext } from "../command.ts";
import { oneLine } from "../render/foreign.ts";
import type { ModelService } from "../../services/models.ts";
import { renderModels, renderNoModel } from "../render/language-models.ts";
import { duration } from "../render/quantities.ts";
import { displayWidth, wrap } from "../render/width.ts";
import type { Terminal } from "../terminal.ts";
import { fetchExtensionModels, printMissingRuntime, renderExtensionModels } from "./extension-models.ts";

interface ModelsOptions {
  readonly refresh?: boolean;
  readonly json?: boolean;
}

/** Lists or tests the language models of the person's settings, or fetches an embedding model or one of an extension. */
export async function models(
  context: CommandContext,
  [verb = "list", name, ...rest]: readonly string[],
  options: ModelsOptions,
): Promise<number> {
  if (!["list", "test", "fetch"].includes(verb))
    throw new UsageError(`There is no command "${verb}" here. Use one of list, test, fetch.`);
  if (rest.length > 0) throw new UsageError(`Only one model is allowed. Remove ${rest.join(" ")}.`);
  if (verb === "fetch") return fetchModel(context, name, options);
  if (verb === "test") return testModels(context, name, options);
  if (name !== undefined) throw new UsageError(`"list" takes no name. Remove "${name}".`);
  return list(context, options);
}

async function list(
  { ports, terminal }: CommandContext,
  { refresh = false, json }: ModelsOptions,
): Promise<number> {
  const [listing, document] = await ports.withUserServices(
    async ({ models, documentPath, documentFaults }) => {
      warnOf(documentFaults, terminal);
      const listed = listModels(models, refresh, terminal.interrupted);
      return [await terminal.progress("asking the providers", listed), documentPath] as const;
    },
  );
  const embedders = ports.models();
  const ofExtensions = await ports.withExtensionModels((models) => models.list());
  if (json === true) {
    terminal.json({ ...listing, embedders, extension_models: ofExtensions });
    return exitCodes.ok;
  }
  terminal.print(renderModels(listing, document, terminal.surface));
  terminal.print(renderExtensionModels(ofExtensions, terminal.surface));
  if (embedders.length === 0) return exitCodes.ok;
  terminal.print(["", terminal.surface.style.bold("For the memories of agents (lares models fetch <name>)")]);
  for (const { name, title, licence, megabytes } of embedders)
    terminal.print(` ${name}  ${title}; ${megabytes} MB, ${licence}`);
  return exitCodes.ok;
}

/** Tests one model, or each that a route names. Exits with 1 if one does not answer. */
async function testModels(
  { ports, terminal }: CommandContext,
  name: string | undefined,
  { json }: ModelsOptions,
): Promise<number> {
  const { interrupted } = terminal;
  const results = await ports.withUserServices(async ({ models, documentPath, documentFaults }) => {
    warnOf(documentFaults, terminal);
    const listing = await listModels(models, false, interrupted);
    const names = name === undefined ? [...new Set(Object.values(listing.routes))] : [name];
    if (names.length === 0) {
      if (listing.providers.length === 0) {
        terminal.warn(renderNoModel(documentPath));
        return null;
      }
      throw new UsageError(
        "No route names a model. Write models.routes in your lares.yaml, or name a model: lares models test <provider/model>",
      );
    }
    const tested: { readonly model: string; readonly result: ModelTestResult }[] = [];
    for (const model of names) {
      const result = await terminal.progress(
        `asking ${model}`,
        models.test(model, interrupted).catch(budgetFailure),
      );
      interrupted.throwIfAborted();
      tested.push({ model, result });
      if (json !== true) terminal.print(resultLines(model, result, terminal));
    }
    return tested;
  });
  if (results === null) return exitCodes.failed;
  if (json === true) terminal.json(results.map(({ model, result }) => ({ model, ...result })));
  return results.every(({ result }) => result.ok) ? exitCodes.ok : exitCodes.failed;
}

/** Where the person's document names no provider, an Ollama on this machine is looked for. */
async function listModels(
  models: ModelService,
  refresh: boolean,
  signal: AbortSignal,
): ReturnType<ModelService["list"]> {
  const listing = await models.list(refresh, signal);
  return refresh || listing.providers.length > 0 ? listing : models.list(true, signal);
}

function warnOf(faults: readonly string[], terminal: CommandContext["terminal"]): void {
  terminal.warn(
    faults.map((fault) => `warning: ${oneLine(fault)} This document is not used until that is right.`),
  );
}

/** A budget refuses one model; the others are tested all the same. */
function budgetFailure(error: unknown): ModelTestResult {
  if (!isLaresError(error, "BudgetExceeded")) throw error;
  return { ok: false, error: { class: error.code, message: error.message } };
}

/** One line, or at a terminal that is too narrow for it the model and beneath it what is wrong. */
function resultLines(
  model: string,
  { ok, first_token_ms: firstTokenMs = 0, error }: ModelTestResult,
  { surface: { style, width }, isTerminal }: Terminal,
): string[] {
  const name = oneLine(model);
  if (ok) return [`${style.green("✓")} ${name}  answers after ${duration(firstTokenMs)}`];
  const wrong = oneLine(error?.message ?? "");
  const isShort = displayWidth(`  ${name}  ${wrong}`) <= width;
  if (isShort || !isTerminal) return [`${style.red("✗")} ${name}  ${wrong}`];
  return [`${style.red("✗")} ${name}`, ...wrap(wrong, width - 2).map((line) => `  ${line}`)];
}

const extensionId = new RegExp(extensionIdPattern);

async function fetchModel(
  context: CommandContext,
  name: string | undefined,
  { json }: ModelsOptions,
): Promise<number> {
  const { ports, terminal } = context;
  const model = ports.models().find((each) => each.name === name);
  if (model === undefined) {
    const names = ports.models().map((each) => each.name);
    if (name !== undefined && extensionId.test(name.split("/")[0] ?? ""))
      return await fetchExtensionModels(context, name, json === true);
    const use = `Use one of ${names.join(", ")}, or <extension>[/<model>].`;
    if (name === undefined) throw new UsageError(`The name of a model is missing. ${use}`);
    throw new UsageError(`There is no model "${oneLine(name)}" to fetch. ${use}`);
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
  if (!runtime) printMissingRuntime(terminal, "It needs");
  terminal.print(`To use it, write in ${oneLine(document)}:`);
  terminal.print(`  ${setting}`);
  return exitCodes.ok;
}
