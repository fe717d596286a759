import { ExtensionFolders } from "./extension-folders.ts";
import { ProgramProjects } from "./program-projects.ts";
import { resolveSdk } from "./sdk-modules.ts";
import type { PluginCreateInfo, ProjectService, TypeScript } from "./tsserver.ts";

interface Parts {
  readonly extensions: ExtensionFolders;
  readonly programs: ProgramProjects;
}

interface Plugin {
  create<LanguageService>(info: PluginCreateInfo<LanguageService>): LanguageService;
}

/** By server: projects come and go, and each loads the plugin again. */
const parts = new WeakMap<ProjectService, Parts>();

/**
 * Creates the plugin for TypeScript's server that VS Code loads with this extension. Agents' programs are checked
 * against the SDK that the kernel bundles, without any files in their workspace. `folder` is the plugin's own folder.
 */
export function createPlugin(typescript: TypeScript, folder: string): Plugin {
  return {
    create({ project, serverHost: host, languageService }) {
      const { projectService: service } = project;
      let known = parts.get(service);
      if (known === undefined) {
        const extensions = new ExtensionFolders(host, () => performance.now());
        const programs = new ProgramProjects(service, { typescript, host, folder, extensions });
        known = { extensions, programs };
        parts.set(service, known);
      }
      resolveSdk(project, { typescript, folder, extensions: known.extensions });
      known.programs.addGlobals(project);
      return languageService;
    },
  };
}
