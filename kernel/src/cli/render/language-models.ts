import type { DeepReadonly } from "../../base/deep-readonly.ts";
import type { ModelListing, ModelsListing, ProviderListing } from "../../base/vocabulary/model-listing.ts";
import { oneLine } from "./foreign.ts";
import type { Surface } from "./style.ts";
import { renderTable } from "./table.ts";
import { wrap } from "./width.ts";

/** Models of one provider that are shown; --json has all. */
const shownPerProvider = 6;

const stateWords: Readonly<Record<ProviderListing["state"], string>> = {
  ready: "ready",
  no_key: "no key",
  unreachable: "failed",
  unknown: "not asked",
};

/** Returns how to get a first model. `document`: the person's own lares.yaml. */
export function renderNoModel(document: string): string[] {
  return [
    "No language model is set up. The quickest ways:",
    "",
    "  A key:   lares secrets set anthropic --host api.anthropic.com",
    "           lares secrets set openai --host api.openai.com",
    "           lares secrets set google --host generativelanguage.googleapis.com",
    "  Ollama:  ollama pull qwen3, then: lares models",
    `  Others:  models: in ${oneLine(document)}`,
  ];
}

/** Renders the providers, and the models with what is known about them and the routes that use them. */
export function renderModels(
  { providers, models, routes }: DeepReadonly<ModelsListing>,
  document: string,
  surface: Surface,
): string[] {
  const { style } = surface;
  if (providers.length === 0) return renderNoModel(document);
  const usedBy = (id: string): string =>
    Object.entries(routes)
      .filter(([, model]) => model === id)
      .map(([route]) => route)
      .join(", ");
  const unused = models.filter(({ id }) => usedBy(id) === "");
  const listed = [
    ...models.filter(({ id }) => usedBy(id) !== ""),
    ...providers
      .filter(({ state }) => state !== "no_key")
      .flatMap(({ id }) =>
        unused.filter((model) => model.id.startsWith(`${id}/`)).slice(0, shownPerProvider),
      ),
  ];
  const isFound = providers.some(({ found_by: foundBy }) => foundBy !== undefined);
  const left = models.length - listed.length;
  return [
    ...renderTable(
      [
        { title: "Provider" },
        { title: "Kind" },
        { title: "State" },
        { title: "Where" },
        ...(isFound ? [{ title: "Found by", flexible: true }] : []),
      ],
      providers.map(({ id, api, state, local, found_by: foundBy = "" }) => [
        oneLine(id),
        api,
        state === "ready"
          ? style.green(stateWords[state])
          : state === "unknown"
            ? style.dim(stateWords[state])
            : style.yellow(stateWords[state]),
        local ? "this machine" : api === "editor" ? "the editor" : "the network",
        ...(isFound ? [oneLine(foundBy)] : []),
      ]),
      surface,
    ),
    ...providers.flatMap(({ id, problem }) =>
      problem === undefined ? [] : problemLines(oneLine(id), oneLine(problem), surface),
    ),
    "",
    ...renderTable(
      [
        { title: "Model", flexible: true },
        { title: "Context", align: "right" },
        { title: "$ in/M", align: "right" },
        { title: "$ out/M", align: "right" },
        { title: "Used for" },
      ],
      listed.map((model) => modelRow(model, usedBy(model.id))),
      surface,
    ),
    ...(left > 0 ? [style.dim(`… and ${left} more; --json lists all`)] : []),
    ...(providers.some(({ state }) => state === "unknown")
      ? [style.dim("Not asked yet: lares models --refresh asks, lares models test tries the models in use.")]
      : []),
    style.dim(`To change this: models: in ${oneLine(document)}`),
  ];
}

function problemLines(id: string, problem: string, { style, width }: Surface): string[] {
  // Most problems name the provider.
  const text = problem.includes(`"${id}"`) ? problem : `${id}: ${problem}`;
  const [first = "", ...rest] = wrap(text, width - 2);
  return [`${style.yellow("!")} ${first}`, ...rest.map((line) => `  ${line}`)];
}

function modelRow(model: DeepReadonly<ModelListing>, usedFor: string): string[] {
  const { id, context_tokens: context, input_usd_per_mtok: input, output_usd_per_mtok: output } = model;
  return [
    oneLine(id),
    context === undefined ? "" : tokens(context),
    input === undefined ? "" : input.toFixed(2),
    output === undefined ? "" : output.toFixed(2),
    oneLine(usedFor),
  ];
}

/** 200000 → "200k" */
function tokens(count: number): string {
  return count >= 1_000_000 ? `${Number((count / 1_000_000).toFixed(1))}M` : `${Math.round(count / 1000)}k`;
}
