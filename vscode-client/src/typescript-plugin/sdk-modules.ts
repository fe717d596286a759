import type { ExtensionFolders } from "./extension-folders.ts";
import type { ModuleResolution, Project, TypeScript } from "./tsserver.ts";

/**
 * The declarations by module name, relative to the plugin's folder; `build/typescript-plugin.ts` copies them there.
 */
const declarations = new Map([
  ["@lares/sdk", "sdk/index.d.ts"],
  ["@lares/sdk/testing", "sdk/testing/index.d.ts"],
]);

/** Lets a project find the SDK for files of an extension if the project itself does not. */
export function resolveSdk(
  project: Project,
  options: {
    readonly typescript: TypeScript;
    readonly folder: string;
    readonly extensions: ExtensionFolders;
  },
): void {
  const { typescript, folder, extensions } = options;
  const own = project.resolveModuleNameLiterals?.bind(project);
  if (own === undefined) return;
  project.resolveModuleNameLiterals = (literals, containingFile, ...rest) =>
    own(literals, containingFile, ...rest).map((resolution, index): ModuleResolution => {
      if (resolution.resolvedModule !== undefined) return resolution;
      const path = declarations.get(literals[index]?.text ?? "");
      if (path === undefined || extensions.of(containingFile) === undefined) return resolution;
      return {
        // The failed lookups are kept and watched, so that an SDK that is installed later is found.
        ...resolution,
        resolvedModule: {
          resolvedFileName: `${folder}/${path}`,
          extension: typescript.Extension.Dts,
          isExternalLibraryImport: true,
        },
      };
    });
}
