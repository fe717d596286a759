import type { ExtensionConfiguration } from "../documents/configuration.ts";
import type { ExtensionOnDisk } from "./find-extensions.ts";

/**
 * Returns the extension with the models that its entry in the documents names: each is added to the manifest's, or takes the
 * place of the manifest's model of its name. This is the only place that knows both. What a person is asked, and all that runs,
 * fetches or lists models, reads the one list that results.
 */
export function withNamedModels(
  extension: ExtensionOnDisk,
  { models = [], from }: Pick<ExtensionConfiguration, "models" | "from">,
): ExtensionOnDisk {
  const { checked } = extension;
  if (checked.value === null || models.length === 0) return extension;
  const named_in = from.source === "workspace" ? ("workspace" as const) : ("user" as const);
  const named = models.map((model) => ({ ...model, named_in }));
  const all = new Map([...checked.value.models, ...named].map((model) => [model.name, model]));
  return { ...extension, checked: { ...checked, value: { ...checked.value, models: [...all.values()] } } };
}
