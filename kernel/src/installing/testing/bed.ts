import { mkdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { silentLog } from "../../base/log.ts";
import type { PackageServices } from "../../services/packages.ts";
import { eventPorts } from "../../configuration/event-ports.ts";
import { WorkspaceDocuments } from "../../configuration/workspace-documents.ts";
import { systemClock } from "../../platform/clock.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";
import { extensionMemories } from "../../composition/extension-memories.ts";
import { openLedger } from "../../composition/ledger.ts";
import { programFault } from "../../composition/prepare-program.ts";
import { bundleForPackage, resources } from "../../composition/subsystems/resources.ts";
import { openPackageServices } from "../package-services.ts";

/**
 * The services for packages of a person with folders of their own, and an empty workspace. They are closed when the test has
 * ended. `variables`: more of the environment; `of`: the folder of a person who has one.
 */
export async function bed(
  variables: Readonly<Record<string, string>> = {},
  of?: string,
): Promise<{
  packages: PackageServices;
  base: string;
  config: string;
  workspace: string;
}> {
  const base = await realpath(of ?? (await temporaryFolder()));
  const environment = {
    ...variables,
    HOME: base,
    LARES_HOME: join(base, "home"),
    XDG_CONFIG_HOME: join(base, "config"),
  };
  const opened = new AsyncDisposableStack();
  onTestFinished(() => opened.disposeAsync());
  const workspace = join(base, "workspace");
  await mkdir(workspace, { recursive: true });
  const documentsOf = (folder: string): WorkspaceDocuments =>
    new WorkspaceDocuments({
      roots: [folder],
      userFolder: join(base, "config", "lares"),
      bundledExtensions: resources.extensions,
      defaultsFile: resources.defaults,
      environment,
      kernelVersion: "0.1.0",
      events: eventPorts(systemClock),
    });
  const packages = openPackageServices({
    environment,
    kernelVersion: "0.1.0",
    opened,
    programFault: (folder) => programFault(documentsOf(folder).createFinder(), folder),
    bundle: bundleForPackage,
    memories: extensionMemories(environment, (folder) => openLedger(folder, silentLog)),
    documentsOf,
  });
  return { packages, base, config: join(base, "config", "lares"), workspace };
}
