import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { LaresError, messageOf, notFound } from "../base/errors.ts";
import { silentLog } from "../base/log.ts";
import type { CliPorts } from "../cli/ports.ts";
import { protectedByName, whyPlaceIsProtected, type ProtectedGroup } from "../policy/protected.ts";
import { laresNames } from "../documents/names.ts";
import { explainConfiguration } from "../documents/explain.ts";
import { type KnownModelName, knownModels } from "../memory-contract/known-models.ts";
import { packagesAround } from "../platform/children/child-process.ts";
import { systemClock } from "../platform/clock.ts";
import { endKernel } from "../platform/processes/end-kernel.ts";
import type { Program } from "../platform/processes/spawn-kernel.ts";
import {
  stateFolderOf,
  stateFolderPath,
  stateHome,
  userConfigFolder,
} from "../platform/files/state-folder.ts";
import { adoptableState } from "../platform/files/workspace-record.ts";
import { Catalog } from "../configuration/catalog.ts";
import { connectToKernel } from "./client.ts";
import { diagnosticsOf } from "../authoring/document-checks.ts";
import { eventPorts } from "../configuration/event-ports.ts";
import { ObservedFiles } from "../configuration/observed-files.ts";
import { extensionFolders } from "../configuration/protected-folders.ts";
import { ProgramOutlines } from "../authoring/program-outlines.ts";
import { readText, realPathOf } from "../platform/files/document-files.ts";
import type { ExtensionOrigins } from "../configuration/requests.ts";
import { WorkspaceDocuments } from "../configuration/workspace-documents.ts";
import { bundleForPackage, resources, sourceReader } from "./subsystems/resources.ts";
import { namedRoots, pathMapper } from "../configuration/workspace-paths.ts";

/** Returns the places that always need approval in this workspace; empty if there are none. */
async function protectedPlaces(documents: WorkspaceDocuments, root: string): Promise<ProtectedGroup[]> {
  const catalog = new Catalog({
    ...placesOf(root),
    documents,
    programs: { load: async () => ({ program: null, fault: "Programs are not loaded for a check." }) },
  });
  const workspacePaths = pathMapper(namedRoots([await realPathOf(root)]));
  const { entries } = await catalog.load(false);
  const folders = [
    ...workspacePaths(await realPathOf(userConfigFolder(process.env))),
    ...extensionFolders(entries, workspacePaths),
  ];
  return folders.length === 0 ? [] : [{ reason: whyPlaceIsProtected, folders, files: [] }];
}

/** The places in which the extensions of a workspace with this one root are searched. */
function placesOf(root: string): ExtensionOrigins {
  return {
    roots: [root],
    userFolder: userConfigFolder(process.env),
    bundledExtensions: resources.extensions,
  };
}

/** The dependencies of the commands. */
export function commandLinePorts(version: string, program: Program, serve: CliPorts["serve"]): CliPorts {
  const documentsOf = (folder: string): WorkspaceDocuments =>
    new WorkspaceDocuments({
      ...placesOf(folder),
      defaultsFile: resources.defaults,
      environment: process.env,
      kernelVersion: version,
      events: eventPorts(systemClock),
    });
  const faultOf = async (folder: string): Promise<string | null> => {
    const { programFault } = await import("./prepare-program.ts");
    return programFault(documentsOf(folder).createFinder(), folder);
  };
  return {
    version,
    connect: (options) => connectToKernel(options, program, silentLog),
    userDocument: async () => {
      const found = await new ObservedFiles().readFirst(userConfigFolder(process.env), laresNames);
      return found?.file ?? null;
    },
    checkDocument: async (path) => {
      const file = resolve(path);
      const text = await readText(file);
      if (text === null)
        throw new LaresError(
          "NotFound",
          `${JSON.stringify(file)} cannot be read. Name an existing regular file.`,
          {
            path: file,
          },
        );
      const documents = documentsOf(dirname(file));
      const { diagnostics } = await diagnosticsOf(documents, new ProgramOutlines(sourceReader), {
        file,
        text,
      });
      return diagnostics.map(({ range, severity, code, message }) => ({
        file: path,
        line: range.start.line + 1,
        column: range.start.character + 1,
        severity,
        code,
        message,
      }));
    },
    explain: async (folder) => {
      const documents = documentsOf(resolve(folder));
      const files = new ObservedFiles();
      const { resolved } = await documents.resolve(files, documents.createFinder(files), []);
      const { environmentFaults } = resolved;
      return {
        values: explainConfiguration(resolved),
        environmentFaults: environmentFaults.map(({ message }) => message),
        protected: [...protectedByName, ...(await protectedPlaces(documents, resolve(folder)))],
      };
    },
    programFault: faultOf,
    stripTypes: async (source) => (await import("../sandbox/bundle/transform.ts")).stripTypes(source),
    constantModel: async (inputs, outputs) =>
      (await import("../inference/host/onnx/constant-model.ts")).constantModel(inputs, outputs),
    conformance: async (program, options) => {
      const { conformanceOf } = await import("./conformance.ts");
      return conformanceOf(documentsOf(program.folder).createFinder(), program, options);
    },
    serve,
    stopKernel: async (folders) => endKernel(await stateFolderPath(folders, process.env)),
    stateHome: () => stateHome(process.env),
    stateOf: (folder) => stateFolderOf([folder], process.env),
    hasState: async (folder) => existsSync(await stateFolderPath([folder], process.env)),
    adoptableState: async (folder) => {
      const root = await realPathOf(folder);
      const own = await stateFolderPath([root], process.env);
      const found = await adoptableState(root, own);
      return found === null ? null : { before: found.before, isOnly: !existsSync(own) };
    },
    adoptState: async (folder) => {
      const root = await realPathOf(folder);
      const own = await stateFolderPath([root], process.env);
      const [{ adopt }, { openLedger }] = await Promise.all([import("./adoption.ts"), import("./ledger.ts")]);
      return await adopt(root, own, systemClock.now(), (state) => openLedger(state, silentLog));
    },
    probeSandbox: async () => {
      const { probeSandbox } = await import("./probe.ts");
      return probeSandbox().catch((error: unknown) => ({ ok: false, detail: messageOf(error) }));
    },
    withUserServices: async (use) => {
      const { openUserServices } = await import("./user-services.ts");
      await using opened = new AsyncDisposableStack();
      return await use(await openUserServices(documentsOf(process.cwd()), process.env, opened));
    },
    withPackages: async (use) => {
      const [{ openPackageServices }, { extensionMemories }] = await Promise.all([
        import("../installing/package-services.ts"),
        import("./extension-memories.ts"),
      ]);
      await using opened = new AsyncDisposableStack();
      return await use(
        openPackageServices({
          environment: process.env,
          kernelVersion: version,
          documentsOf,
          opened,
          programFault: faultOf,
          bundle: bundleForPackage,
          memories: extensionMemories(process.env, async (folder) =>
            (await import("./ledger.ts")).openLedger(folder, silentLog),
          ),
        }),
      );
    },
    withExtensionModels: async (use) => {
      const { openCommandModels } = await import("./command-models.ts");
      await using opened = new AsyncDisposableStack();
      const folder = process.cwd();
      return await use(
        await openCommandModels({
          environment: process.env,
          places: placesOf(folder),
          documents: documentsOf(folder),
          opened,
        }),
      );
    },
    models: () =>
      Object.entries(knownModels).map(([name, { title, licence, megabytes }]) => ({
        name,
        title,
        licence,
        megabytes,
      })),
    fetchModel: async (name, signal) => {
      const [{ fetchModel }, { environmentWithoutSecrets }] = await Promise.all([
        import("../inference/fetching/fetch-model.ts"),
        import("../outside/provider-requests.ts"),
      ]);
      const model = Object.hasOwn(knownModels, name) ? knownModels[name as KnownModelName] : undefined;
      if (model === undefined) throw notFound("model", name);
      return {
        ...(await fetchModel(name, model, {
          environment: process.env,
          signal,
          withoutSecrets: environmentWithoutSecrets,
        })),
        runtime: packagesAround("onnxruntime-node", import.meta.url) !== null,
        document: join(userConfigFolder(process.env), "lares.yaml"),
      };
    },
    examplesFolder: resources.examples,
    templatesFolder: resources.templates,
    sdkFolder: resources.sdk,
  };
}
