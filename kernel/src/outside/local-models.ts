import type { ModelEvent, ModelFailure, ModelRequest } from "../base/vocabulary/model.ts";
import type { ProviderSettings } from "../base/vocabulary/model-settings.ts";
import type { LanguageModelClient } from "../inference/client/language-models.ts";
import type { ModelFiles } from "../inference/messages.ts";
import { splitFiles } from "../inference/client/split-files.ts";
import type { ListedModel } from "../models/directory.ts";
import { parseModelReference } from "../models/reference.ts";

/** Makes one attempt at a model of this machine; ends with `done` or `failed`. */
export async function* streamLocal(
  client: Pick<LanguageModelClient, "stream">,
  provider: ProviderSettings,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, void> {
  const model = filesOf(provider, parseModelReference(request.model)?.model ?? "");
  if (model === null) return yield { type: "failed", failure: unknownModel(provider, request.model) };
  const { temperature } = provider;
  const drawn = temperature === undefined ? request : { temperature, ...request };
  yield* client.stream({ model, contextTokens: provider.contextTokens ?? null, request: drawn }, signal);
}

/** Returns the models whose files can be read. Rejects with the first problem if there are none. */
export async function listLocal(
  client: Pick<LanguageModelClient, "inspect">,
  provider: ProviderSettings,
  signal: AbortSignal,
): Promise<readonly ListedModel[]> {
  const listed: ListedModel[] = [];
  const reasons: unknown[] = [];
  for (const name of Object.keys(provider.files ?? {})) {
    const model = filesOf(provider, name);
    if (model === null) continue;
    try {
      const { contextTokens } = await client.inspect(model, provider.contextTokens ?? null, signal);
      listed.push({ id: name, ...(contextTokens === null ? {} : { context_tokens: contextTokens }) });
    } catch (error) {
      signal.throwIfAborted();
      reasons.push(error);
    }
  }
  if (listed.length === 0 && reasons.length > 0) throw reasons[0];
  return listed;
}

/** Returns the files of all models of this machine. */
export function localFiles(providers: Readonly<Record<string, ProviderSettings>>): readonly string[] {
  return Object.values(providers).flatMap(({ files = {} }) => Object.values(files).flatMap(splitFiles));
}

/** Returns the files of a provider's model, with where the document names them; null: it names none. */
export function filesOf({ id, files = {} }: ProviderSettings, name: string): ModelFiles | null {
  const file = Object.hasOwn(files, name) ? files[name] : undefined;
  if (file === undefined) return null;
  return { files: splitFiles(file), place: `models.providers.${id}.models.${name}.path` };
}

function unknownModel({ id, files = {} }: ProviderSettings, model: string): ModelFailure {
  return {
    class: "UnknownModel",
    message: `"${model}" names no model of the provider ${id} (there are ${Object.keys(files).join(", ")}). Add its file to models.providers.${id}.models in your lares.yaml.`,
  };
}
