import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { pack, type Tarball } from "../support/installed.ts";

declare module "vitest" {
  export interface ProvidedContext {
    readonly tarballs: Tarball[];
  }
}

/** Packs once for all suites. */
export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), "lares-packed-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    project.provide("tarballs", pack(folder, ["lares", "@lares/sdk"]));
  } catch (error) {
    remove();
    throw error;
  }
  return remove;
}
