import { join } from "node:path";
import { silentLog } from "../base/log.ts";
import type { UserServices } from "../cli/ports.ts";
import { ObservedFiles } from "../configuration/observed-files.ts";
import type { WorkspaceDocuments } from "../configuration/workspace-documents.ts";
import { systemClock } from "../platform/clock.ts";
import { homeOf, stateHome, userConfigFolder, type Environment } from "../platform/files/state-folder.ts";
import { EditorModels } from "../services/editor-models.ts";
import { createModelServices } from "../outside/model-services.ts";
import { openModels } from "../outside/open-models.ts";

/** Opens the user's models, usage and secrets without a kernel. Turns of scripts are spent for this process only. */
export async function openUserServices(
  documents: WorkspaceDocuments,
  environment: Environment,
  opened: AsyncDisposableStack,
): Promise<UserServices> {
  const files = new ObservedFiles();
  const documentFaults: string[] = [];
  const { resolved } = await documents.resolve(files, documents.createFinder(files), documentFaults);
  const spent = new Set<string>();
  const keyOf = (...parts: readonly unknown[]): string => JSON.stringify(parts);
  const models = openModels({
    environment,
    userFolder: userConfigFolder(environment),
    stateHome: stateHome(environment),
    home: homeOf(environment),
    clock: systemClock,
    log: silentLog,
    opened,
    document: () => resolved.value,
    trace: () => undefined,
    editor: new EditorModels(systemClock),
    // Requests here come from the person.
    consent: { allowsUnpriced: async () => true, allowsFound: async () => true },
    turns: {
      isSpent: (...turn) => spent.has(keyOf(...turn)),
      spend: async (...turn) => void spent.add(keyOf(...turn)),
    },
  });
  return {
    ...createModelServices(models, systemClock),
    documentPath: join(userConfigFolder(environment), "lares.yaml"),
    documentFaults,
  };
}
