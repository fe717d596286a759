import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A new folder in the system's temporary folder. Disposing of it removes it with its contents. */
export class TemporaryFolder implements AsyncDisposable {
  /** Real path. */
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** `prefix`: the beginning of its name; an awkward one reveals bad quoting of paths. */
  static async create(prefix: string): Promise<TemporaryFolder> {
    return new TemporaryFolder(await realpath(await mkdtemp(join(tmpdir(), prefix))));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A process that is ending may still write to it.
    await rm(this.path, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
  }
}
