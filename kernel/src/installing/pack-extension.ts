import { readdir } from "node:fs/promises";
import { basename, extname, join } from "node:path";
import { LaresError } from "../base/errors.ts";
import { named } from "../base/named.ts";
import { replaceString } from "../documents/fixes/edits.ts";
import { plainPath } from "../documents/plain-path.ts";
import type { EventPorts } from "../documents/ports.ts";
import { applyEdits } from "../documents/text/apply-edits.ts";
import { isVersion } from "../documents/versions.ts";
import type { ExtensionOnDisk } from "../configuration/find-extensions.ts";
import type { WorkspaceDocuments } from "../configuration/workspace-documents.ts";
import { packageBounds } from "../packages/bounds.ts";
import { packageName, readPackage, writePackage, type VerifiedPackage } from "../packages/package-file.ts";
import { readProgramFile } from "../platform/files/program-files.ts";
import type { KeyPair } from "../platform/signatures.ts";
import { maxFileBytes } from "../sandbox/bundle/bounds.ts";
import type { PackagedSource } from "../sandbox/bundle/bundle.ts";
import { manifestOf } from "./manifest-in-package.ts";

/** The program of a package, whatever files it was bundled from. */
const bundledProgram = "agent.js";

/** Files beside the manifest that belong to every package that has them, in any case of letters. */
const companions =
  /^(?:readme|licen[cs]e|copying|notice|changelog|third-party-licen[cs]es)(?:\.(?:md|txt|rst))?$/i;

export interface PackPorts {
  readonly documents: WorkspaceDocuments;
  readonly kernelVersion: string;
  readonly events: EventPorts;
  /** Returns why the program of the extension in a folder cannot run; null if it can. */
  programFault(folder: string): Promise<string | null>;
  /** Bundles a program into one source file. */
  bundle(folder: string, main: string): Promise<PackagedSource>;
}

/** Checks, bundles, signs and packs the extension in a folder. Throws InvalidDocument with what the author has to change. */
export async function packExtension(
  folder: string,
  key: KeyPair,
  ports: PackPorts,
): Promise<VerifiedPackage & { readonly bytes: Uint8Array; readonly name: string }> {
  const finder = ports.documents.createFinder();
  const extension = await finder.byPath(folder, join(folder, "lares.yaml"));
  if (extension === null)
    throw new LaresError(
      "NotFound",
      `There is no extension.yaml or extension.toml in ${named(folder)}. Name the extension's folder.`,
      { path: folder },
    );
  const { id, version, main } = usable(extension);
  if (!isVersion(version))
    throw new LaresError(
      "InvalidDocument",
      `${extension.manifest.file}: the version ${named(version)} is not of the form 1.2.3. A package needs one that can be compared.`,
    );
  const files = new Map<string, Uint8Array>();
  const manifestName = basename(extension.manifest.file);
  if (main === null) files.set(manifestName, bytesOf(extension.manifest.text));
  else {
    const fault = await ports.programFault(folder);
    if (fault !== null)
      throw new LaresError("InvalidDocument", `The program cannot run, so it is not packed: ${fault}`);
    files.set(...(await packedProgram(extension.folder, main, ports.bundle)));
    files.set(manifestName, bytesOf(manifestFor(extension, main)));
  }
  for (const path of [
    ...(extension.checked.mindFiles?.texts.map((text) => text.path) ?? []),
    ...(await companionsIn(extension.folder)),
  ])
    files.set(path, await fileIn(extension.folder, path));
  const bytes = writePackage({ id, version }, files, key);
  // A package that cannot be installed is not written.
  const verified = readPackage(bytes);
  await manifestOf(verified, ports);
  return { ...verified, bytes, name: packageName(verified.record) };
}

function usable({ manifest, checked }: ExtensionOnDisk) {
  if (checked.usable && checked.value !== null) return checked.value;
  const first = checked.diagnostics.find(({ severity }) => severity === "error");
  throw new LaresError(
    "InvalidDocument",
    `${manifest.file}:${(first?.range.start.line ?? 0) + 1}: ${first?.message ?? "It is not a manifest."} lares check shows all errors.`,
  );
}

async function packedProgram(
  folder: string,
  main: string,
  bundle: PackPorts["bundle"],
): Promise<[string, Uint8Array]> {
  if (extname(main) === ".wasm") return [plainPath(main), await fileIn(folder, main)];
  const result = await bundle(folder, main);
  if (!result.ok) {
    const [{ file, line, message } = { file: main, line: 1, message: "It cannot be bundled." }] =
      result.errors;
    throw new LaresError("InvalidDocument", `${file}:${line}: ${message}`);
  }
  if (result.bytes.length > maxFileBytes)
    throw new LaresError(
      "InvalidDocument",
      `The program has ${result.bytes.length} bytes when bundled; in a package it may have ${maxFileBytes}. Leave out what it does not need.`,
    );
  return [bundledProgram, result.bytes];
}

/** Returns the manifest's text, naming the bundled program instead of its source. */
function manifestFor({ manifest, checked }: ExtensionOnDisk, main: string): string {
  const { text } = manifest;
  if (extname(main) === ".wasm") return text;
  const pointer = "/extension/main";
  if (checked.document.nodeAt(pointer) === undefined) return text;
  const edit = replaceString(checked.document, pointer, bundledProgram);
  if (edit === null)
    throw new LaresError(
      "InvalidDocument",
      `${manifest.file}: "main" cannot be replaced by ${bundledProgram}. Write it on one line.`,
    );
  return applyEdits(text, [edit]);
}

async function companionsIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && companions.test(entry.name)).map(({ name }) => name);
}

async function fileIn(folder: string, path: string): Promise<Uint8Array> {
  const { bytes, refused } = await readProgramFile(folder, path, packageBounds.maxFileBytes);
  if (bytes !== null) return bytes;
  throw new LaresError(
    "InvalidDocument",
    refused === "outside"
      ? `${named(path)} is a link out of the extension's folder, so it is not packed. Put the file itself there.`
      : refused === "too-large"
        ? `${named(path)} is larger than ${packageBounds.maxFileBytes} bytes, so it is not packed.`
        : `${named(path)} cannot be read, so it is not packed.`,
  );
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
