import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/**
 * A package on npm (MIT) with small models of faces. It is only downloaded for a test, never installed or shipped: of its 41 MB
 * two files are used.
 */
const packageName = "faceplugin-face-recognition-js@0.0.1";
const kept = fileURLToPath(new URL("../../../node_modules/.cache/lares-faces/", import.meta.url));
const models = {
  detector: ["fr_detect.onnx", "6c0256ccd3164f844736a401faf936ec2930764a87ae39442180887d0c5c8854"],
  embedder: ["fr_feature.onnx", "87aacdfe57510db2af90c0251df680e8eec88f122ee94712121d09bcaaaf3581"],
} as const;

interface FaceModels {
  readonly detector: Uint8Array;
  readonly embedder: Uint8Array;
}

/** Returns a detector and an embedder; or a sentence that says why they cannot be had. */
export async function realFaceModels(): Promise<FaceModels | string> {
  try {
    return { detector: await model(...models.detector), embedder: await model(...models.embedder) };
  } catch (error) {
    return `The models of faces in the npm package ${packageName} cannot be reached: ${String(error).split("\n")[0] ?? ""}`;
  }
}

async function model(name: string, sha256: string): Promise<Uint8Array> {
  const file = join(kept, "package", "model", name);
  const bytes = await readFile(file).catch(async () => {
    await download();
    return await readFile(file);
  });
  const found = createHash("sha256").update(bytes).digest("hex");
  if (found !== sha256) throw new Error(`${name} is another file than expected, with the SHA-256 ${found}`);
  return bytes;
}

async function download(): Promise<void> {
  const run = promisify(execFile);
  const part = `${kept.replace(/\/$/, "")}-${process.pid}`;
  await mkdir(part, { recursive: true });
  try {
    const npm = ["pack", "--silent", "--ignore-scripts", "--pack-destination", part, packageName];
    const { stdout } = await run("npm", npm, { timeout: 120_000, shell: process.platform === "win32" });
    await run("tar", ["-xzf", stdout.trim(), "package/model"], { cwd: part });
    await rm(kept, { recursive: true, force: true });
    await rename(part, kept);
  } finally {
    await rm(part, { recursive: true, force: true });
  }
}

/** `config.faces` of the extension for these models. */
export const realFaceSettings = {
  width: 320,
  height: 240,
  mean: 127,
  scale: 1 / 128,
  coordinates: "relative",
  least_score: 0.7,
  embedding: { mean: 127, scale: 1 / 128, output: "output" },
} as const;
