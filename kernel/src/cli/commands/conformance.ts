import { stat, realpath } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { documentKind } from "../../documents/names.ts";
import { exitCodes, UsageError, type CommandContext } from "../command.ts";
import { renderConformance } from "../render/conformance.ts";

/** Tries a program against the guest ABI and prints, rule by rule, what holds. */
export async function conformance(
  { ports, terminal }: CommandContext,
  name: string,
  options: { readonly json?: boolean },
): Promise<number> {
  const place = await programNamed(name);
  terminal.status("loading the program");
  const results = await ports
    .conformance(place, {
      onRule: (rule) => terminal.status(rule),
      signal: terminal.interrupted,
    })
    .finally(() => terminal.status(null));
  if (options.json === true) terminal.json(results);
  else terminal.print(renderConformance(results, terminal.surface));
  return results.some(({ status }) => status === "violated") ? exitCodes.failed : exitCodes.ok;
}

/** Returns the folder of an extension, or the folder and the file of a program; absolute and without links. */
async function programNamed(name: string): Promise<{ folder: string; file: string | null }> {
  const found = await stat(resolve(name)).catch(() => null);
  if (found === null)
    throw new UsageError(`"${name}" does not exist. Name a .wasm file, or the folder of an extension.`);
  const path = await realpath(resolve(name));
  if (found.isDirectory()) return { folder: path, file: null };
  if (documentKind(path) === "manifest") return { folder: dirname(path), file: null };
  if (/\.(wasm|ts|js)$/.test(path)) return { folder: dirname(path), file: path };
  throw new UsageError(`"${name}" is not a program. Name a .wasm file, or the folder of an extension.`);
}
