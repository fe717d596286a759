import { foldName } from "../base/names.ts";
import { checkManifest, type CheckedManifest } from "../documents/manifest.ts";
import { manifestNames } from "../documents/names.ts";
import { plainPath } from "../documents/plain-path.ts";
import type { FileText, ManifestPorts } from "../documents/ports.ts";
import type { ResolvedManifest } from "../documents/resolved-manifest.ts";
import { refusedPackage } from "../packages/package-error.ts";
import type { VerifiedPackage } from "../packages/package-file.ts";

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Returns the checked manifest of a package, read from memory. Throws InvalidDocument if it is not of this package. */
export async function manifestOf(
  { record, files }: Pick<VerifiedPackage, "record" | "files">,
  ports: Pick<ManifestPorts, "events" | "kernelVersion">,
): Promise<ResolvedManifest> {
  // Some systems find a manifest by any case of its letters.
  const folded = new Set(manifestNames.map(foldName));
  const names = [...files.keys()].filter((path) => folded.has(foldName(path)));
  const name = manifestNames.find((each) => names.includes(each));
  const bytes = name === undefined ? undefined : files.get(name);
  if (name === undefined || bytes === undefined)
    throw refusedPackage("manifest", "The package has no extension.yaml or extension.toml. It is not used.");
  if (names.length > 1)
    throw refusedPackage(
      "manifest",
      `The package has several manifests: ${names.join(", ")}. It is not used.`,
    );
  const checked = await checkManifest(textOf(bytes) ?? "\0", name, {
    ...ports,
    fileExists: (path) => files.has(plainPath(path)),
    files: {
      read: (path, maxBytes) => readIn(files, path, maxBytes),
      folders: (path) => foldersIn(files, path),
    },
  });
  const manifest = usableManifest(checked, name);
  if (manifest.id !== record.id || manifest.version !== record.version)
    throw refusedPackage(
      "manifest",
      `The package says that it is ${record.id} ${record.version}, and its manifest that it is ${JSON.stringify(manifest.id)} ${JSON.stringify(manifest.version)}. It is not used.`,
    );
  return manifest;
}

function usableManifest(checked: CheckedManifest, name: string): ResolvedManifest {
  if (checked.usable && checked.value !== null) return checked.value;
  const first = checked.diagnostics.find(({ severity }) => severity === "error");
  throw refusedPackage(
    "manifest",
    `The package's ${name} has an error in line ${(first?.range.start.line ?? 0) + 1}: ${first?.message ?? "it is not a manifest."}`,
  );
}

function readIn(files: ReadonlyMap<string, Uint8Array>, path: string, maxBytes: number): FileText {
  const bytes = files.get(plainPath(path));
  if (bytes === undefined) return { text: null, refused: "missing" };
  if (bytes.length > maxBytes) return { text: null, refused: "too-large", size: bytes.length };
  const text = textOf(bytes);
  return text === null ? { text: null, refused: "encoding" } : { text };
}

function textOf(bytes: Uint8Array): string | null {
  try {
    return strict.decode(bytes);
  } catch {
    return null;
  }
}

function foldersIn(
  files: ReadonlyMap<string, Uint8Array>,
  path: string,
): { readonly name: string; readonly state: "folder" }[] {
  const prefix = path === "" ? "" : `${path}/`;
  const names = [...files.keys()]
    .filter((file) => file.startsWith(prefix))
    .map((file) => file.slice(prefix.length).split("/"))
    .flatMap(([name = "", ...rest]) => (rest.length > 0 && !name.startsWith(".") ? [name] : []));
  return [...new Set(names)].toSorted().map((name) => ({ name, state: "folder" }));
}
