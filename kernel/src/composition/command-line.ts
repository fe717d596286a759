import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { LaresError, messageOf, notFound } from "../base/errors.ts";
import { silentLog } from "../base/log.ts";
import type { CliPorts } from "../cli/ports.ts";
import { protectedByName } from "../policy/protected.ts";
import { explainConfiguration } from "../documents/explain.ts";
import { type KnownModelName, knownModels } from "../memory/store/embedding/known-models.ts";
import { packagesAround } from "../platform/child-process.ts";
import { systemClock } from "../platform/clock.ts";
import { endKernel } from "../platform/end-kernel.ts";
import type { Program } from "../platform/spawn-kernel.ts";
import { stateFolderPath, stateHome, userConfigFolder } from "../platform/state-folder.ts";
import { Catalog } from "./catalog.ts";
import { connectToKernel } from "./client.ts";
import { diagnosticsOf, eventPorts } from "./documents.ts";
import { ObservedFiles } from "./observed-files.ts";
import { ProgramOutlines } from "./program-outlines.ts";
import { readText } from "./read-documents.ts";
import { resources } from "./resources.ts";

/** What the commands are handed. */
export function commandLinePorts(version: string, program: Program, serve: CliPorts["serve"]): CliPorts {
  const catalogOf = (folder: string): Catalog =>
    new Catalog({
      roots: [folder],
      userFolder: userConfigFolder(process.env),
      bundledExtensions: resources.extensions,
      defaultsFile: resources.defaults,
      environment: process.env,
      kernelVersion: version,
      events: eventPorts(systemClock),
      programs: { load: async () => ({ program: null, fault: "Programs are not loaded for a check." }) },
      log: silentLog,
    });
  return {
    version,
    connect: (options) => connectToKernel(options, program, silentLog),
    checkDocument: async (path) => {
      const file = resolve(path);
      const text = await readText(file);
      if (text === null)
        throw new LaresError("NotFound", `${JSON.stringify(file)} cannot be read: it is no plain file.`, {
          path: file,
        });
      const catalog = catalogOf(dirname(file));
      const { diagnostics } = await diagnosticsOf(catalog, new ProgramOutlines(), { file, text });
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
      const catalog = catalogOf(resolve(folder));
      const files = new ObservedFiles();
      const { resolved } = await catalog.resolve(files, catalog.finder(files), []);
      const { environmentFaults } = resolved;
      return {
        values: explainConfiguration(resolved),
        environmentFaults: environmentFaults.map(({ message }) => message),
        protected: protectedByName,
      };
    },
    programFault: async (folder) => {
      const { programFault } = await import("./prepare-program.ts");
      return programFault(catalogOf(folder).finder(), folder);
    },
    serve,
    stopKernel: async (folders) => endKernel(await stateFolderPath(folders, process.env)),
    stateHome: () => stateHome(process.env),
    probeSandbox: async () => {
      const { probeSandbox } = await import("./probe.ts");
      return probeSandbox().catch((error: unknown) => ({ ok: false, detail: messageOf(error) }));
    },
    models: () =>
      Object.entries(knownModels).map(([name, { title, licence, megabytes }]) => ({
        name,
        title,
        licence,
        megabytes,
      })),
    fetchModel: async (name, signal) => {
      const { fetchModel } = await import("./fetch-model.ts");
      const model = Object.hasOwn(knownModels, name) ? knownModels[name as KnownModelName] : undefined;
      if (model === undefined) throw notFound("model", name);
      return {
        ...(await fetchModel(name, model, { environment: process.env, signal })),
        runtime: packagesAround("onnxruntime-node", import.meta.url) !== null,
        document: join(userConfigFolder(process.env), "lares.yaml"),
      };
    },
    examplesFolder: resources.examples,
    templatesFolder: resources.templates,
    sdkFolder: resources.sdk,
  };
}
