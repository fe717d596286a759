import type { ProgramFolder } from "../../platform/files/program-files.ts";
import { messageOf } from "../../base/errors.ts";
import { maxFileBytes } from "./bounds.ts";
import { packageEntry, programCondition, sourceCondition } from "./package-exports.ts";

/** Tried in this order after a name without an extension. */
const endings = [".ts", ".tsx", ".mts", ".js", ".mjs", ".jsx", ".cjs", ".cts", ".json"];
/** TypeScript's convention: the source of "./x.js" may be "./x.ts". */
const sourceEndings: Record<string, readonly string[]> = {
  ".js": [".ts", ".tsx"],
  ".mjs": [".mts"],
  ".cjs": [".cts"],
  ".jsx": [".tsx"],
};
const sdkName = "@lares/sdk";

/** A file of the program, in the extension's folder or in the SDK. */
export interface ProgramFile {
  readonly from: "program" | "sdk";
  /** Relative to the folder of the extension or the SDK, with links resolved. */
  readonly path: string;
}

type Resolution = ProgramFile | { readonly error: string };

export interface Folders {
  readonly program: ProgramFolder;
  readonly sdk: ProgramFolder;
}

/** Resolves imports within two folders; it can access nothing else on the machine. */
export class Resolver {
  readonly #folders: Folders;
  /** Called for every file that was read during resolution, because its content influences the program. */
  readonly #onRead: (file: ProgramFile, bytes: Uint8Array) => void;

  constructor(folders: Folders, onRead: (file: ProgramFile, bytes: Uint8Array) => void) {
    this.#folders = folders;
    this.#onRead = onRead;
  }

  async resolve(specifier: string, importer: ProgramFile): Promise<Resolution> {
    if (specifier === sdkName || specifier.startsWith(`${sdkName}/`)) return this.#sdk(specifier);
    if (
      specifier.startsWith("./") ||
      specifier.startsWith("../") ||
      specifier === "." ||
      specifier === ".."
    ) {
      return this.#relative(specifier, importer);
    }
    if (/^[A-Za-z][A-Za-z0-9+.-]+:/.test(specifier)) {
      return refused(
        specifier,
        specifier.startsWith("node:")
          ? "Node.js modules do not exist in the sandbox"
          : "programs cannot load code from a URL",
      );
    }
    if (/^([/\\]|[A-Za-z]:)/.test(specifier))
      return refused(specifier, "absolute paths are outside the extension");
    if (specifier.startsWith("#")) return refused(specifier, 'import a file by its path ("./…") instead');
    return this.#package(specifier, importer);
  }

  async #relative(specifier: string, importer: ProgramFile): Promise<Resolution> {
    const path = joined(parent(importer.path), specifier);
    if (path === null) return refused(specifier, "it is outside the extension's folder");
    return (
      (await this.#file(importer.from, path, specifier)) ??
      refused(specifier, "the extension has no such file")
    );
  }

  async #sdk(specifier: string): Promise<Resolution> {
    if (specifier === `${sdkName}/testing`)
      return refused(specifier, "it is for tests, which run outside the sandbox");
    const manifest = await this.#manifest({ from: "sdk", path: "package.json" });
    const entry = packageEntry(manifest, `.${specifier.slice(sdkName.length)}`, [
      programCondition,
      sourceCondition,
    ]);
    const file = entry === undefined ? null : await this.#file("sdk", joined(".", entry) ?? "", specifier);
    return file ?? refused(specifier, `${sdkName} has no such part`);
  }

  /** Searches `node_modules` in the importer's folder and in its parents, up to the extension's own folder. */
  async #package(specifier: string, importer: ProgramFile): Promise<Resolution> {
    const [name, subpath] = packageName(specifier);
    for (let folder = parent(importer.path); ; folder = parent(folder)) {
      const home = joined(folder, `node_modules/${name}`) ?? "";
      const located = await this.#folders[importer.from].locate(home);
      if (located === "outside")
        return refused(specifier, `"${home}" is a link that leads out of the extension's folder`);
      if (located !== "missing" && located.kind === "folder") {
        const manifest = await this.#manifest({ from: importer.from, path: `${located.path}/package.json` });
        const entry = packageEntry(manifest, subpath);
        const path = entry === undefined ? null : joined(located.path, entry);
        const file = path === null ? null : await this.#file(importer.from, path, specifier);
        return file ?? refused(specifier, `the package "${name}" does not offer it`);
      }
      if (folder === ".") break;
    }
    return refused(
      specifier,
      "it is neither a file of the extension nor a package in its own node_modules; Node.js modules do not exist in the sandbox",
    );
  }

  async #file(from: ProgramFile["from"], path: string, specifier: string): Promise<Resolution | null> {
    for (const candidate of candidates(path)) {
      const located = await this.#folders[from].locate(candidate);
      if (located === "outside")
        return refused(specifier, `"${candidate}" is a link that leads out of the extension's folder`);
      if (located === "missing" || located.kind !== "file") continue;
      if (from === "program" && isHidden(located.path))
        return refused(specifier, `"${located.path}" is hidden; hidden files cannot be part of a program`);
      return { from, path: located.path };
    }
    return null;
  }

  async #manifest(file: ProgramFile): Promise<unknown> {
    const located = await this.#folders[file.from].locate(file.path);
    if (typeof located === "string" || located.kind !== "file") return {};
    const bytes = await this.#folders[file.from].read(located.path, maxFileBytes);
    this.#onRead({ from: file.from, path: located.path }, bytes);
    try {
      return JSON.parse(new TextDecoder().decode(bytes));
    } catch (error) {
      throw new Error(`${located.path}: ${messageOf(error)}`, { cause: error });
    }
  }
}

/**
 * Returns true if a path has a name with a leading dot, such as secrets or version control. Exception: package
 * managers keep packages in such folders inside `node_modules`.
 */
function isHidden(path: string): boolean {
  const names = path.split("/");
  return names.some(
    (name, index) =>
      name.startsWith(".") && (names[index - 1] !== "node_modules" || index === names.length - 1),
  );
}

function refused(specifier: string, why: string): { error: string } {
  return { error: `Cannot import "${specifier}": ${why}.` };
}

function candidates(path: string): string[] {
  const dot = path.lastIndexOf(".");
  const ending = dot > path.lastIndexOf("/") ? path.slice(dot) : "";
  const sources = (sourceEndings[ending] ?? []).map((source) => path.slice(0, dot) + source);
  const within = path === "." ? "" : `${path}/`;
  return [
    path,
    ...sources,
    ...endings.map((end) => path + end),
    ...endings.map((end) => `${within}index${end}`),
  ];
}

/** Returns the package's name and the subpath in the form of its `exports`. */
function packageName(specifier: string): [string, string] {
  const parts = specifier.split("/");
  const length = specifier.startsWith("@") ? 2 : 1;
  return [parts.slice(0, length).join("/"), [".", ...parts.slice(length)].join("/")];
}

function parent(path: string): string {
  const slash = path.lastIndexOf("/");
  return slash < 0 ? "." : path.slice(0, slash);
}

/** Resolves "." and ".."; returns null if the path leaves the root. */
function joined(folder: string, path: string): string | null {
  const names: string[] = [];
  for (const name of `${folder}/${path}`.split("/")) {
    if (name === "" || name === ".") continue;
    if (name !== "..") names.push(name);
    else if (names.pop() === undefined) return null;
  }
  return names.length === 0 ? "." : names.join("/");
}
