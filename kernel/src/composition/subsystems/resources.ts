import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { LaresError } from "../../base/errors.ts";
import type { BundleCache } from "../../sandbox/bundle/bundle-cache.ts";
import type { Bundler, PackagedSource } from "../../sandbox/bundle/bundle.ts";
import type { SourceReader } from "../../authoring/program-outlines.ts";
import { maxFileBytes } from "../../sandbox/bundle/bounds.ts";
import { transformFile } from "../../sandbox/bundle/transform.ts";
import type { Bundle } from "../../configuration/programs.ts";

/**
 * The files that ship with the kernel. A checkout uses the sources; the package contains copies beside the built
 * code.
 */
const isCheckout = import.meta.url.endsWith(".ts");
// The built code resolves this as if each module were in its source's place in dist/.
const kernel = new URL("../../../", import.meta.url);
const home = new URL(isCheckout ? "../" : "dist/resources/", kernel);
const at = (path: string): string => fileURLToPath(new URL(path, home));

export const resources = {
  extensions: at("extensions"),
  sdk: at("extensions/sdk"),
  defaults: at("manifests/defaults.yaml"),
  templates: at("manifests/templates"),
  /** Only a checkout contains examples. */
  examples: isCheckout ? at("examples") : null,
};

const guestRuntime = fileURLToPath(new URL("build-output/guest.wasm", kernel));

/** The WASI command that runs JavaScript programs. */
export async function readGuestRuntime(): Promise<Uint8Array> {
  try {
    return await readFile(guestRuntime);
  } catch (error) {
    throw new LaresError(
      "InternalError",
      "The runtime for TypeScript agents is missing; in a checkout, npm run build:guest makes it.",
      {},
      { cause: error },
    );
  }
}

/** Loads the bundler with the first extension that has sources, because it is large. */
export function bundleWith(cache?: BundleCache): Bundle {
  let bundler: Promise<Bundler> | undefined;
  return async ({ folder, main }) => {
    bundler ??= import("../../sandbox/bundle/bundle.ts").then(
      (module) => new module.Bundler(resources.sdk, { isSdkFixed: !isCheckout, cache }),
    );
    return (await bundler).bundle(folder, main);
  };
}

export const bundle: Bundle = bundleWith();

/** Reads program files as the bundler does. */
export const sourceReader: SourceReader = { maxFileBytes, transform: transformFile };

/** Bundles a program into one source file for a package. */
export async function bundleForPackage(folder: string, main: string): Promise<PackagedSource> {
  const { Bundler } = await import("../../sandbox/bundle/bundle.ts");
  return new Bundler(resources.sdk).bundleForPackage(folder, main);
}
