import { resolve } from "node:path";
import { KernelConnection } from "./kernel-connection.ts";
import { findExecutable, layOut, type PlaceOptions } from "./kernel-place.ts";
import { RunningKernel } from "./running-kernel.ts";

export type KernelOptions = PlaceOptions;

/**
 * Starts the real kernel with one extension, trusted, in a copy of a workspace; state, decisions and configuration
 * are temporary too. Resolves when the workspace is indexed; a program that does not load shows in `agent()`.
 *
 *     await using kernel = await runInKernel("extensions/notes", "test/workspace");
 *     await kernel.write("a.md", "milk\n");
 *     await kernel.idle();
 *     const [proposal] = await kernel.actions();
 *     await kernel.approve(proposal.id);
 *
 * Needs the package `lares` where the extension, the project or this package can find it.
 */
export async function runInKernel(
  extensionFolder: string,
  workspaceFolder: string,
  options: KernelOptions = {},
): Promise<RunningKernel> {
  const executable = await findExecutable(resolve(extensionFolder));
  const place = await layOut(resolve(extensionFolder), resolve(workspaceFolder), options);
  const kernel = new RunningKernel(place, new KernelConnection(executable, place.environment));
  try {
    await kernel.start();
    return kernel;
  } catch (error) {
    await kernel[Symbol.asyncDispose]();
    throw error;
  }
}
