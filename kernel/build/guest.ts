/**
 * Builds `build-output/guest.wasm`, the WASI command in which agents written in TypeScript run:
 * QuickJS with its native libraries, the micro HNSW, the shim (`guest/*.wat`), all of which `linked.ts` provides as one
 * module, and the runtime (`src/sandbox/guest/runtime/`), as an image that has already started. The HNSW's own modules,
 * which the SDK brings to authors in other languages, are copied to the SDK, and so are its parts that contain packages of
 * others, for CEL, EXIF and XMP, each in one file.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeImage } from "./guest/image.ts";
import { linkedModules, type LinkedModules } from "./linked.ts";

const here = dirname(fileURLToPath(import.meta.url));
const outFolder = join(here, "..", "build-output");
const runtimeFolder = join(here, "..", "src", "sandbox", "guest", "runtime");
const outFile = join(outFolder, "guest.wasm");
const stampFile = join(outFolder, "guest.stamp");
const sdkOutFolder = join(here, "..", "..", "extensions", "sdk", "build-output");
const hnswFiles = {
  standalone: join(sdkOutFolder, "hnsw.wasm"),
  linkable: join(sdkOutFolder, "hnsw-linkable.wasm"),
};
const packageFile = createRequire(import.meta.url).resolve;
/** Parts of the SDK with packages of others, which programs cannot import, and those packages' descriptions. */
const parts = [
  { name: "cel", described: join(dirname(packageFile("@marcbachmann/cel-js")), "..", "package.json") },
  { name: "exif", described: packageFile("exifreader/package.json") },
  { name: "xmp", described: packageFile("saxes/package.json") },
] as const;
const partSource = (name: string): string => join(here, "..", "..", "extensions", "sdk", "src", `${name}.ts`);
const partFile = (name: string): string => join(sdkOutFolder, `${name}.js`);

function filesIn(folder: string): string[] {
  return readdirSync(folder)
    .toSorted()
    .filter((name) => !name.endsWith(".md"))
    .map((name) => join(folder, name));
}

/** A digest of all inputs of the build. */
function digestOfInputs({ whole, pruned, hnsw, libraries }: LinkedModules): string {
  const hash = createHash("sha256");
  const files = [
    fileURLToPath(import.meta.url),
    ...filesIn(join(here, "guest")),
    ...filesIn(runtimeFolder),
    packageFile("esbuild/package.json"),
    ...parts.flatMap(({ name, described }) => [partSource(name), described]),
  ];
  for (const file of files) hash.update(readFileSync(file)).update("\0");
  for (const bytes of [whole, pruned, hnsw.standalone, hnsw.linkable, ...libraries.map(({ data }) => data)])
    hash.update(bytes).update("\0");
  return hash.digest("hex");
}

function stampOf(inputs: string, outputs: readonly Uint8Array[]): string {
  const digests = outputs.map((bytes) => createHash("sha256").update(bytes).digest("hex"));
  return `${[inputs, ...digests].join(" ")}\n`;
}

function isCurrent(inputs: string): boolean {
  try {
    const outputs = [
      outFile,
      hnswFiles.standalone,
      hnswFiles.linkable,
      ...parts.map(({ name }) => partFile(name)),
    ].map((file) => readFileSync(file));
    return readFileSync(stampFile, "utf8") === stampOf(inputs, outputs);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return false;
    throw error;
  }
}

async function build(inputs: string, linked: LinkedModules): Promise<void> {
  const { build: bundle } = await import("esbuild");
  const runtime = await bundle({
    entryPoints: [join(runtimeFolder, "main.ts")],
    bundle: true,
    write: false,
    format: "iife",
    globalName: "runtime",
    footer: { js: "runtime.makeTurn;" },
    target: "es2023",
    platform: "neutral",
    tsconfigRaw: {},
    legalComments: "none",
  });
  const programs = await Promise.all(
    parts.map(async ({ name }) => {
      const program = await bundle({
        entryPoints: [partSource(name)],
        bundle: true,
        write: false,
        format: "esm",
        target: "es2023",
        platform: "neutral",
        mainFields: ["module", "main"],
        tsconfigRaw: {},
        legalComments: "inline",
      });
      return { name, bytes: Buffer.from(program.outputFiles[0]?.contents ?? []) };
    }),
  );
  const source = runtime.outputFiles[0]?.text ?? "";
  const { hnsw } = linked;
  const module = makeImage(linked, source);
  mkdirSync(outFolder, { recursive: true });
  mkdirSync(sdkOutFolder, { recursive: true });
  replace(hnswFiles.standalone, hnsw.standalone);
  replace(hnswFiles.linkable, hnsw.linkable);
  for (const { name, bytes } of programs) replace(partFile(name), bytes);
  replace(outFile, module);
  writeFileSync(
    stampFile,
    stampOf(inputs, [module, hnsw.standalone, hnsw.linkable, ...programs.map(({ bytes }) => bytes)]),
  );
  const digest = createHash("sha256").update(module).digest("hex");
  console.log(`Built kernel/build-output/guest.wasm: ${module.length} bytes, sha256:${digest}`);
  console.log(
    `Built extensions/sdk/build-output/hnsw.wasm: ${hnsw.standalone.length} bytes; linkable: ${hnsw.linkable.length}`,
  );
}

/** Renamed into place, so that an interrupted build leaves the old file, or none. */
function replace(file: string, bytes: Uint8Array): void {
  writeFileSync(`${file}.new`, bytes);
  renameSync(`${file}.new`, file);
}

const linked = linkedModules();
const inputs = digestOfInputs(linked);
if (isCurrent(inputs)) console.log("kernel/build-output/guest.wasm is up to date.");
else await build(inputs, linked);
