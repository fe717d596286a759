import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { TemporaryFolder } from "../../support/temporary-folder.ts";

export const repository = fileURLToPath(new URL("../../../", import.meta.url));
export const checkoutExecutable = join(repository, "kernel", "bin", "lares.js");

/** A temporary folder with an empty home. */
export interface Place extends AsyncDisposable {
  /** Real path. */
  readonly base: string;
  readonly home: string;
  path(...names: string[]): string;
  /** The environment of a machine without any configuration. */
  readonly environment: NodeJS.ProcessEnv;
}

export async function makePlace(name = "lares-package-"): Promise<Place> {
  const folder = await TemporaryFolder.create(name);
  const base = folder.path;
  const home = join(base, "home");
  await mkdir(home);
  return {
    base,
    home,
    path: (...names) => join(base, ...names),
    environment: {
      PATH: process.env["PATH"],
      TMPDIR: tmpdir(),
      HOME: home,
      USERPROFILE: home,
      NO_COLOR: "1",
      LARES_KERNEL_LINGER: "0s",
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}
