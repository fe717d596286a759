import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { LaresError } from "../../base/errors.ts";
import type { Bundler } from "../../sandbox/bundle/bundle.ts";
import type { SourceReader } from "../../authoring/program-outlines.ts";
import { maxFileBytes } from "../../sandbox/bundle/bounds.ts";
import { transformFile } from "../../sandbox/bundle/transform.ts";
import type { Bundle } from "../../configuration/programs.ts";

/**
 * What ships with the kernel. In a checkout these lie where people edit them; the package carries copies
 * beside the built code.
 */
const isCheckout = import.meta.url.endsWith(".ts");
const kernel = new URL(isCheckout ? "../../../" : "../../", import.meta.url);
const home = new URL(isCheckout ? "../" : "dist/resources/", kernel);
const at = (path: string): string => fileURLToPath(new URL(path, home));

export const resources = {
  extensions: at("extensions"),
  sdk: at("extensions/sdk"),
  defaults: at("manifests/defaults.yaml"),
  templates: at("manifests/templates"),
  /** Only a checkout has examples. */
  examples: isCheckout ? at("examples") : null,
};

const guestRuntime = fileURLToPath(new URL("build-output/guest.wasm", kernel));

/** The WASI command in which JavaScript programs run. */
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

let bundler: Promise<Bundler> | undefined;

/** Loads the bundler with the first extension that has sources: it is not small. */
export const bundle: Bundle = async ({ folder, main }) => {
  bundler ??= import("../../sandbox/bundle/bundle.ts").then((module) => new module.Bundler(resources.sdk));
  return (await bundler).bundle(folder, main);
};

/** Reads the files of programs as the bundler does. */
export const sourceReader: SourceReader = { maxFileBytes, transform: transformFile };
