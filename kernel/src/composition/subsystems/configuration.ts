import { join } from "node:path";
import { unifiedDiff } from "../../actions/text.ts";
import { Catalog } from "../../configuration/catalog.ts";
import { ConfigurationManager } from "../../configuration/configuration-manager.ts";
import { openDecisions } from "../../configuration/decisions-file.ts";
import { eventPorts } from "../../configuration/event-ports.ts";
import { ProgramSources } from "../../configuration/program-sources.ts";
import { createProgramLoader, type Program } from "../../configuration/programs.ts";
import { openObjectStore } from "../../platform/files/object-store.ts";
import { PathWatch } from "../../platform/files/path-watch.ts";
import type { SandboxHost } from "../../sandbox/host/sandbox-host.ts";
import { BundleCache } from "../../sandbox/bundle/bundle-cache.ts";
import { gitIgnored } from "../../workspace/git-ignored.ts";
import { WorkspaceDocuments } from "../../configuration/workspace-documents.ts";
import { openCache } from "./caches.ts";
import { bundleWith, resources } from "./resources.ts";
import type { KernelFiles } from "./files.ts";
import type { KernelContext } from "./kernel-context.ts";

type Decisions = Awaited<ReturnType<typeof openDecisions>>;

export interface KernelConfiguration {
  readonly documents: WorkspaceDocuments;
  readonly decisions: Decisions;
  readonly configuration: ConfigurationManager;
  /** Watches the files that were read, and reads them again after a change. */
  readonly watch: PathWatch;
}

/** Reads the person's decisions. */
export async function openPersonDecisions({
  stateFolder,
  clock,
  log,
  opened,
}: KernelContext): Promise<Decisions> {
  const decisions = await openDecisions(stateFolder, clock, log);
  opened.defer(() => decisions.close());
  return decisions;
}

/** Reads the documents and computes what is in force. Modules are not checked yet. */
export async function openConfiguration(
  context: KernelContext,
  decisions: Decisions,
  sandbox: SandboxHost<Program>,
  { workspacePaths }: Pick<KernelFiles, "workspacePaths">,
): Promise<KernelConfiguration> {
  const { stateFolder, clock, log, roots, userFolder, stateHome, opened } = context;
  const places = { roots, userFolder, bundledExtensions: resources.extensions };
  const documents = new WorkspaceDocuments({
    ...places,
    stateHome,
    stateFolder,
    defaultsFile: resources.defaults,
    environment: context.environment,
    kernelVersion: context.version,
    events: eventPorts(clock),
  });
  const bundles = await openCache(context, "bundles", 2000);
  const catalog = new Catalog({
    ...places,
    documents,
    programs: createProgramLoader({
      bundle: bundleWith(new BundleCache(bundles, context.version, log)),
      checkModule: (bytes) => sandbox.check({ kind: "wasm", bytes }),
      gitIgnored,
    }),
  });
  const watch = opened.use(new PathWatch({ clock, log, bases: roots }));
  const configuration = await ConfigurationManager.open({
    catalog,
    decisions: decisions.store,
    sources: new ProgramSources(await openObjectStore(join(stateFolder, "programs")), unifiedDiff, log),
    log,
    context: {
      clock,
      workspacePaths,
      // The state of every workspace, because a home folder that is a workspace contains all of them.
      forbiddenPaths: workspacePaths(stateHome),
      protectedPaths: workspacePaths(userFolder),
    },
    watch,
  });
  return { documents, decisions, configuration, watch };
}
