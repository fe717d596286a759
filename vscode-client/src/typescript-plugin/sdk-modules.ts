import type { ExtensionFolders } from "./extension-folders.ts";
import type { ModuleResolution, Project, TypeScript } from "./tsserver.ts";

/** Declarations by what a program imports, below the plugin's folder; `build/typescript-plugin.ts` lays them there. */
const declarations = new Map([
  ["@lares/sdk", "sdk/index.d.ts"],
  ["@lares/sdk/testing", "sdk/testing/index.d.ts"],
]);

/** Has a project find the SDK for files of an extension where the project itself does not. */
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
        // Where it was looked for stays, and is watched: an SDK that is installed later counts.
        ...resolution,
        resolvedModule: {
          resolvedFileName: `${folder}/${path}`,
          extension: typescript.Extension.Dts,
          isExternalLibraryImport: true,
        },
      };
    });
}
