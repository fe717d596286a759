import { silentLog } from "../base/log.ts";
import { LaresError, notFound } from "../base/errors.ts";
import { sourceOfModel, type DeclaredModel } from "../base/vocabulary/declared-model.ts";
import { hostsOfModel } from "../policy/model-hosts.ts";
import type { ExtensionModelListing, ExtensionModelsPort } from "../cli/ports.ts";
import { Catalog } from "../configuration/catalog.ts";
import type { ExtensionOrigins } from "../configuration/requests.ts";
import type { WorkspaceDocuments } from "../configuration/workspace-documents.ts";
import { modelSettings } from "../documents/model-settings.ts";
import { EgressClient } from "../egress/client/egress-client.ts";
import { packagesAround } from "../platform/children/child-process.ts";
import { systemClock } from "../platform/clock.ts";
import { homeOf, userConfigFolder, type Environment } from "../platform/files/state-folder.ts";
import { IssuedSecrets } from "../outside/issued-secrets.ts";
import { environmentOfEgress } from "../outside/open-models.ts";
import { providerHosts } from "../outside/provider-requests.ts";
import { openModelStore } from "../extension-models/open-store.ts";

interface CommandModelOptions {
  readonly environment: Environment;
  readonly places: ExtensionOrigins;
  readonly documents: WorkspaceDocuments;
  readonly opened: AsyncDisposableStack;
}

/** Opens the models of a workspace's extensions for a command, without a kernel. The person who runs it names the extension. */
export async function openCommandModels({
  environment,
  places,
  documents,
  opened,
}: CommandModelOptions): Promise<ExtensionModelsPort> {
  const catalog = new Catalog({
    ...places,
    documents,
    programs: { load: async () => ({ program: null, fault: "Programs are not loaded for this." }) },
  });
  const { entries, standing } = await catalog.load(false);
  const egress = opened.use(
    new EgressClient({
      clock: systemClock,
      log: silentLog,
      environment: () =>
        environmentOfEgress(standing.egress, {
          environment,
          home: homeOf(environment),
          userFolder: userConfigFolder(environment),
        }),
      trace: () => undefined,
    }),
  );
  const store = openModelStore(environment, systemClock, {
    egress,
    issued: new IssuedSecrets(),
    networkRules: async () => ({
      privateHosts: standing.egress.private_hosts ?? [],
      providerHosts: providerHosts(Object.values(modelSettings(standing.models).providers)),
    }),
  });
  const modelsOf = async (extension: string): Promise<readonly DeclaredModel[]> => {
    const entry = entries.find(({ id }) => id === extension);
    const found = entry?.extension ?? (await documents.createFinder().byId(extension));
    const manifest = found?.checked.value;
    if (manifest === null || manifest === undefined) throw notFound("extension", extension);
    return manifest.models;
  };
  const listingOf = async (extension: string, model: DeclaredModel): Promise<ExtensionModelListing> => {
    const { name, version = "", size_mb: megabytes = 0 } = model;
    const known = { extension, name, version, megabytes, hosts: hostsOfModel(model) };
    const source = sourceOfModel(model);
    if ("lacks" in source) return { ...known, state: "unavailable", bytes: 0, problem: source.lacks };
    return { ...known, sha256: source.sha256, ...(await store.stateOf(source)) };
  };
  return {
    list: async (extension) => {
      const ids = extension === undefined ? [...new Set(entries.map(({ id }) => id))] : [extension];
      const listed: ExtensionModelListing[] = [];
      for (const id of ids.filter((each) => each !== ""))
        for (const model of await modelsOf(id)) listed.push(await listingOf(id, model));
      return listed;
    },
    fetch: async ({ extension, name }, { signal, received }) => {
      const model = (await modelsOf(extension)).find((each) => each.name === name);
      if (model === undefined) throw notFound("model", `${extension}/${name}`);
      const source = sourceOfModel(model);
      if ("lacks" in source) throw new LaresError("InvalidDocument", source.lacks);
      // A damaged file is removed by this, and fetched.
      await store.verify(source);
      const { path, fetched } = await store.fetch(source, { who: extension, signal, received });
      const { bytes } = await store.stateOf(source);
      return { path, fetched, bytes };
    },
    runtime: packagesAround("onnxruntime-node", import.meta.url) !== null,
  };
}
