import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { onTestFinished } from "vitest";
import { FailingDisk } from "../../../../test/fault/support/failing-disk.ts";

/** The failures as one readable text. */
export const told = /space|quota|disk|full|i\/?o error|input\/output|store host/i;

/** Makes hosts that are started from now on use this disk. Their environment is fixed, so the executable passes it. */
export async function throughDisk(folder: string): Promise<FailingDisk> {
  const disk = await FailingDisk.in(folder);
  const wrapper = join(folder, "node");
  const variables = Object.entries(disk.environment).map(([name, value]) => `${name}='${value}'`);
  const { execPath } = process;
  await writeFile(wrapper, `#!/bin/sh\n${variables.join(" ")} exec '${execPath}' "$@"\n`);
  await chmod(wrapper, 0o755);
  process.execPath = wrapper;
  onTestFinished(() => {
    process.execPath = execPath;
  });
  return disk;
}
