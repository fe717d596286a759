import { expect, test } from "vitest";
import { neverAborted } from "../base/abort.ts";
import { ManualClock } from "../base/testing/manual-clock.ts";
import type { ModelSettings, ProviderSettings } from "../base/vocabulary/model-settings.ts";
import { type ModelCatalog, openCatalog } from "./catalog.ts";
import { ModelDirectory } from "./directory.ts";

const lab: ProviderSettings = { id: "lab", api: "openai-compatible", baseUrl: "http://127.0.0.1:1/v1" };
const cloud: ProviderSettings = { id: "cloud", api: "openai", baseUrl: "https://api.openai.com/v1" };
const script: ProviderSettings = { id: "script", api: "scripted", script: "/s.yaml" };
const editor: ProviderSettings = { id: "editor", api: "editor" };

function directory(
  ask: (provider: ProviderSettings) => Promise<readonly { readonly id: string }[]>,
  catalog: () => Promise<ModelCatalog> = openCatalog,
) {
  const settings: ModelSettings = {
    providers: { lab, cloud, script, editor },
    routes: {},
    fallbacks: {},
    budgets: {},
  };
  return new ModelDirectory({
    clock: new ManualClock(),
    settings: async () => settings,
    catalog,
    keyProblem: async ({ id }) => (id === "cloud" ? "It is not stored." : null),
    ask,
    editorModels: async () => [],
  });
}

test("each provider that cannot be used has its problem in a sentence, until it answers", async () => {
  const asked: string[] = [];
  let isUp = false;
  const models = directory(async ({ id }) => {
    asked.push(id);
    if (!isUp) throw new Error("Nothing listens there.");
    return [{ id: "small" }];
  });
  const listed = async (refresh: boolean) => {
    const { providers } = await models.list(refresh, neverAborted);
    return Object.fromEntries(providers.map(({ id, state, problem }) => [id, [state, problem]]));
  };
  expect(await listed(false)).toMatchObject({
    lab: ["unknown", undefined],
    cloud: ["no_key", "It is not stored."],
    script: ["ready", undefined],
    editor: ["unreachable", "No editor that offers language models is connected."],
  });
  expect(await listed(true)).toMatchObject({ lab: ["unreachable", "Nothing listens there."] });
  isUp = true;
  expect(await listed(true)).toMatchObject({ lab: ["ready", undefined] });
  // A file has no list on the network, and one without a key is not asked.
  expect(asked).toEqual(["lab", "lab"]);
});

test("the providers' states need neither prices nor windows, which take the catalogue long", async () => {
  let looked = 0;
  const catalog: ModelCatalog = {
    list: () => (looked++, [{ name: "gpt" }]),
    find: () => (looked++, null),
    costInMicroUsd: () => null,
  };
  const models = directory(
    async () => [{ id: "small" }],
    async () => catalog,
  );
  const states = async () => (await models.providers()).map(({ id, state }) => `${id} ${state}`);
  expect(await states()).toEqual(["lab unknown", "cloud no_key", "script ready", "editor unreachable"]);
  expect(looked).toBe(0);
  const { providers } = await models.list(true, neverAborted);
  expect(looked).toBeGreaterThan(0);
  expect(await models.providers()).toEqual(providers);
  expect(await states()).toContain("lab ready");
});
