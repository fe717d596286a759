import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { writeFileAtomically } from "../../platform/files/atomic-file.ts";
import { exitCodes, folderNamed, UsageError, type CommandContext } from "../command.ts";
import { oneLine } from "../render/foreign.ts";
import { bytes, counted } from "../render/quantities.ts";

interface PackOptions {
  readonly output?: string;
  readonly key?: string;
  readonly json?: boolean;
}

/** Packs the extension in a folder into one signed file. */
export async function pack(
  { ports, terminal }: CommandContext,
  name: string,
  { output, key, json }: PackOptions,
): Promise<number> {
  const folder = await folderNamed(name);
  return ports.withPackages(async (packages) => {
    const packed = await terminal.progress(`packing ${name}`, packages.pack(folder, key));
    terminal.interrupted.throwIfAborted();
    const file = await target(output, packed.name);
    await writeFileAtomically(file, packed.bytes, { mode: 0o644 });
    const { id, version, sha256, files, publisher, fingerprint } = packed;
    if (json === true) {
      terminal.json({ id, version, file, size: packed.bytes.length, sha256, files, publisher, fingerprint });
      return exitCodes.ok;
    }
    const { style } = terminal.surface;
    terminal.print([
      `${style.green("✓")} ${style.bold(oneLine(file))}  ${bytes(packed.bytes.length)}, ${counted(files.length, "file")}`,
      ...files.map(({ path, bytes: size }) => `    ${oneLine(path)}  ${style.dim(bytes(size))}`),
      `  SHA-256    ${sha256}`,
      `  Publisher  ${fingerprint}`,
    ]);
    return exitCodes.ok;
  });
}

/** The file that is written: as named, or with its own name in the folder that is named. */
async function target(output: string | undefined, name: string): Promise<string> {
  const path = resolve(output ?? name);
  const found = await stat(path).catch(() => null);
  if (found?.isDirectory() === true) return join(path, name);
  if (found !== null && !found.isFile())
    throw new UsageError(`"${path}" is not a regular file. Name another one with -o.`);
  return path;
}
