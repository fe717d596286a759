import { cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, sep } from "node:path";
import process from "node:process";

/** As `grants` in lares.yaml. */
export interface Grants {
  /** Folders of the workspace; default: the whole workspace. */
  readonly locations?: readonly string[];
  /** A subset of the requested permissions; default: all. */
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
}

export interface PlaceOptions {
  readonly grants?: Grants;
  /** As `config` in lares.yaml. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** As `approvals` in lares.yaml; default: every change of a file waits for an answer. */
  readonly approvals?: {
    readonly auto_approve_below?: number;
    readonly rules?: readonly Readonly<Record<string, unknown>>[];
  };
  /** Uses the folder itself instead of a copy; its own lares.yaml and `.lares/extensions` then apply, too. */
  readonly inPlace?: boolean;
}

/** The environment of a process; spelled out, so that the declarations need no other types. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The surroundings of a test's kernel: everything is temporary, except a workspace that is used in place. */
export interface KernelPlace extends AsyncDisposable {
  /** The real path. */
  readonly workspace: string;
  readonly isCopy: boolean;
  readonly manifest: string;
  readonly environment: Environment;
}

const manifestName = /^extension\.(ya?ml|toml)$/;
const documentName = /^lares\.(ya?ml|toml)$/;

/**
 * Creates a workspace, a home for the kernel's state, and a user configuration that names the extension. The grants
 * are in that configuration and not in the workspace, so that the workspace has only the test's files.
 */
export async function layOut(
  extensionFolder: string,
  workspaceFolder: string,
  options: PlaceOptions,
): Promise<KernelPlace> {
  const extension = await folderAt(extensionFolder, "extension");
  const original = await folderAt(workspaceFolder, "workspace");
  const name = (await readdir(extension)).find((one) => manifestName.test(one));
  if (name === undefined) throw new Error(`There is no extension.yaml in ${extension}.`);
  const manifest = join(extension, name);
  const base = await realpath(await mkdtemp(join(tmpdir(), "lares-test-")));
  try {
    const workspace = options.inPlace === true ? original : join(base, "workspace", basename(original));
    if (options.inPlace !== true) await copyWorkspace(original, workspace);
    const home = join(base, "home");
    const configuration = join(base, "configuration");
    await mkdir(home, { recursive: true, mode: 0o700 });
    await mkdir(join(configuration, "lares"), { recursive: true });
    const document = {
      version: 1,
      extensions: [
        {
          path: relative(join(configuration, "lares"), extension).split(sep).join("/"),
          grants: { locations: ["."], ...options.grants },
          ...(options.config === undefined ? {} : { config: options.config }),
        },
      ],
      ...(options.approvals === undefined ? {} : { approvals: options.approvals }),
    };
    // JSON is YAML.
    await writeFile(join(configuration, "lares", "lares.yaml"), JSON.stringify(document, null, 2));
    return {
      workspace,
      isCopy: options.inPlace !== true,
      manifest,
      environment: environmentWith(home, configuration),
      [Symbol.asyncDispose]: () => remove(base),
    };
  } catch (error) {
    await remove(base);
    throw error;
  }
}

/** Copies without the workspace's documents and drop-in extensions, so that only the extension under test runs. */
async function copyWorkspace(original: string, workspace: string): Promise<void> {
  const left = (path: string): boolean => {
    const inner = relative(original, path).split(sep);
    return (
      inner.length === 1 &&
      (inner[0] === ".git" || inner[0] === ".lares" || documentName.test(inner[0] ?? ""))
    );
  };
  await cp(original, workspace, {
    recursive: true,
    preserveTimestamps: true,
    verbatimSymlinks: true,
    filter: (path) => !left(path),
  });
}

/** Returns the test's environment without the settings of the user who runs it. */
function environmentWith(home: string, configuration: string): Environment {
  const foreign = Object.entries(process.env).filter(([name]) => !name.startsWith("LARES_"));
  return {
    ...Object.fromEntries(foreign),
    LARES_HOME: home,
    LARES_KERNEL_LINGER: "0s",
    XDG_CONFIG_HOME: configuration,
    APPDATA: configuration,
  };
}

/** Returns the executable of the package `lares`, as resolved from the extension, the project, or this package. */
export async function findExecutable(extensionFolder: string): Promise<string> {
  const places = [
    join(extensionFolder, "extension.yaml"),
    join(process.cwd(), "package.json"),
    import.meta.url,
  ];
  for (const place of places) {
    const manifest = resolved(place);
    if (manifest === null) continue;
    const { bin } = JSON.parse(await readFile(manifest, "utf8")) as { bin?: { lares?: string } };
    if (bin?.lares !== undefined) return join(dirname(manifest), bin.lares);
  }
  throw new Error(
    `The package "lares" was found neither from ${extensionFolder} nor from ${process.cwd()}. Run: npm install --save-dev lares`,
  );
}

function resolved(place: string): string | null {
  try {
    return createRequire(place).resolve("lares/package.json");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "MODULE_NOT_FOUND") return null;
    throw error;
  }
}

async function folderAt(path: string, what: string): Promise<string> {
  const found = await stat(path).catch(() => null);
  if (found?.isDirectory() !== true) throw new Error(`The ${what} "${path}" is not a folder.`);
  return realpath(path);
}

function remove(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
}
