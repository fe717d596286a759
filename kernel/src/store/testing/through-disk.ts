import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { onTestFinished } from "vitest";
import { FailingDisk } from "../../../../test/fault/support/failing-disk.ts";

/** What a person can make of it. */
export const told = /space|quota|disk|full|i\/?o error|input\/output|store host/i;

/** Hosts that are started from here on meet this disk: their environment is nobody's to say, so the executable says it. */
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
