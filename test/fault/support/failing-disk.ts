import { execFile } from "node:child_process";
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const source = fileURLToPath(new URL("failing-disk.c", import.meta.url));

export type DiskError = "ENOSPC" | "EIO" | "EROFS" | "EDQUOT" | "EMFILE" | "EACCES" | "SHORT";

export interface DiskRule {
  readonly error: DiskError;
  /** The part of a path by which the failing paths are chosen. */
  readonly path: string;
  /** "*": all calls that change something. See failing-disk.c. */
  readonly operations?: string;
  /** The first matching call that fails, counted from 1. */
  readonly from?: number;
}

/** Returns why no disk can be made to fail here; null if one can. */
export async function whyNoFailingDisk(): Promise<string | null> {
  if (process.platform !== "linux")
    return `the library that makes a disk fail is for Linux, not ${process.platform}`;
  try {
    await promisify(execFile)("cc", ["--version"]);
    return null;
  } catch {
    return "there is no C compiler (cc) to build the library that makes a disk fail; install gcc";
  }
}

/** A disk that fails on request, for processes that are started with `environment`. */
export class FailingDisk {
  readonly environment: Readonly<Record<string, string>>;
  readonly #control: string;

  private constructor(control: string, library: string) {
    this.#control = control;
    this.environment = { LD_PRELOAD: library, LARES_DISK_FAULTS: control };
  }

  /** Builds the library in `folder`. */
  static async in(folder: string): Promise<FailingDisk> {
    const library = join(folder, "failing-disk.so");
    await promisify(execFile)("cc", ["-shared", "-fPIC", "-O1", "-o", library, source, "-ldl", "-lpthread"]);
    return new FailingDisk(join(folder, "disk-faults"), library);
  }

  /** From now on, these calls fail; the record of earlier failures is cleared. */
  async fail(...rules: readonly DiskRule[]): Promise<void> {
    await this.mend();
    const lines = rules.map(({ error, path, operations = "*", from = 1 }) => {
      return `${operations} ${error} ${from} ${path}\n`;
    });
    // In one step, so that no call sees half of the rules.
    await writeFile(`${this.#control}.new`, lines.join(""));
    await rename(`${this.#control}.new`, this.#control);
  }

  async mend(): Promise<void> {
    await rm(this.#control, { force: true });
    await rm(`${this.#control}.log`, { force: true });
  }

  /** Returns what failed since the last `fail`: "operation path". */
  async struck(): Promise<string[]> {
    try {
      return (await readFile(`${this.#control}.log`, "utf8")).split("\n").slice(0, -1);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw error;
    }
  }
}
