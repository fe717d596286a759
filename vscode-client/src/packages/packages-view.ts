import { CancellationError, commands, Disposable, Uri, window, workspace } from "vscode";
import type { Feature } from "../feature.ts";
import type { RunCommand } from "../kernel/run-command.ts";
import { count, label, message } from "../model/text.ts";
import { NodeTree } from "../views/node-tree.ts";
import type { ListedPackage } from "./answers.ts";
import { choosePackage, search } from "./choose-package.ts";
import { installAsked, removeAsked, updateAsked, type Deciding } from "./decide.ts";
import { PackageCommands, type Where } from "./package-commands.ts";
import { PackageList } from "./package-list.ts";
import { nameOf, packageNodes } from "./package-tree.ts";
import { withProgress } from "./progress.ts";

const viewId = "lares.packages";
/** "listing", "listed" or "failed"; the empty view has words for each. */
const stateContext = "lares.packagesState";

const unlisted = "The installed extensions cannot be listed";
/** Refusals name two keys and what to do. */
const maxErrorCharacters = 1_000;
/** The editor cuts a notification after its first lines; what is longer is shown whole in a dialog. */
const maxToastCharacters = 150;

interface Kernels {
  /** Runs a command of `lares`, the one that the kernel is started with. */
  readonly run: RunCommand;
  withoutKernel(run: () => Promise<void>): Promise<void>;
}

/** The view “Extensions for Lares”: what is installed from packages, and the commands to install, update and remove. */
export function packagesView({ run, withoutKernel }: Kernels): Feature {
  return ({ extension, kernel, models }) => {
    const packages = new PackageCommands(run);
    const list = new PackageList(packages, () => localRoots().map(({ fsPath }) => fsPath));
    const tree = new NodeTree(() =>
      workspace.isTrusted ? packageNodes(list.all, (id) => models.agents.get(id), list.updates) : [],
    );
    const view = window.createTreeView(viewId, { treeDataProvider: tree });
    const refresh = async (): Promise<void> => {
      if (!workspace.isTrusted || localRoots().length === 0) return;
      await commands.executeCommand("setContext", stateContext, list.all.length === 0 ? "listing" : "listed");
      try {
        await window.withProgress({ location: { viewId } }, () => list.refresh());
        await commands.executeCommand("setContext", stateContext, "listed");
      } catch (error) {
        await commands.executeCommand("setContext", stateContext, "failed");
        throw error;
      }
    };
    const refreshAloud = (): Promise<void> => reporting(unlisted, refresh);
    const deciding: Deciding = { packages, list, kernel, withoutKernel, changed: () => void refreshAloud() };
    const command = (id: string, what: string, act: (given: unknown) => Promise<void>): Disposable =>
      commands.registerCommand(id, (given?: unknown) =>
        reporting(what, async () => {
          if (!(await isRestricted())) await act(given);
        }),
      );
    const chosen = async (given: unknown, what: string): Promise<ListedPackage | undefined> => {
      if (list.all.length === 0) await refresh();
      const folder = folderArgument(given);
      return folder === undefined ? pickPackage(list, what) : list.at(folder);
    };
    if (view.visible) void refreshAloud();
    let ids = "";
    return Disposable.from(
      tree,
      list,
      view,
      list.onDidChange(() => tree.refresh()),
      models.agents.onDidChange(() => {
        tree.refresh();
        const now = models.agents.all.map(({ id, version }) => `${id} ${version}`).join("\n");
        // A terminal may have installed or removed something.
        if (now !== ids && view.visible) void refresh().catch(() => undefined);
        ids = now;
      }),
      view.onDidChangeVisibility(({ visible }) => {
        if (visible) void refreshAloud();
      }),
      workspace.onDidGrantWorkspaceTrust(() => {
        if (view.visible) void refreshAloud();
      }),
      command("lares.packageInstall", "Nothing was installed", async () => {
        const wanted = await choosePackage(packages, extension.globalState, chooseRoot);
        const where = wanted && (await chooseRoot());
        if (where !== undefined) await installAsked(deciding, wanted!, where);
      }),
      command("lares.packageSearch", "Nothing was installed", async () => {
        const where = await chooseRoot();
        const wanted = where && (await search(packages, extension.globalState, where));
        if (wanted !== undefined) await installAsked(deciding, wanted, where!);
      }),
      command("lares.packageCheckUpdates", "Not every extension can be checked", () =>
        checkUpdates(deciding),
      ),
      command("lares.packageRefresh", unlisted, refresh),
      command("lares.packageUpdate", "It was not updated", async (given) => {
        const item = await chosen(given, "Update");
        if (item !== undefined) await updateAsked(deciding, item);
      }),
      command("lares.packageUse", "Nothing was changed", async (given) => {
        const item = await chosen(given, "Use in This Workspace");
        const where = item && (await chooseRoot());
        if (where !== undefined) await useHere(deciding, item!, where);
      }),
      command("lares.packageRemove", "It was not removed", async (given) => {
        const item = await chosen(given, "Remove");
        if (item !== undefined) await removeAsked(deciding, item);
      }),
      command("lares.packageOpen", "It cannot be opened", async (given) => {
        const item = await chosen(given, "Open the README");
        if (item !== undefined) await openReadme(item);
      }),
      command("lares.packageReveal", "It cannot be shown", async (given) => {
        const item = await chosen(given, "Show the Folder");
        if (item !== undefined) await commands.executeCommand("revealFileInOS", Uri.file(item.folder));
      }),
    );
  };
}

/** Shows an error in one message; nothing if the person cancelled. */
async function reporting(what: string, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (error instanceof CancellationError) return;
    const text = error instanceof Error ? error.message : String(error);
    const detail = message(text, maxErrorCharacters);
    if (detail.length <= maxToastCharacters) void window.showErrorMessage(`${what}: ${detail}`);
    else void window.showErrorMessage(`${what}.`, { modal: true, detail });
  }
}

const localRoots = (): Uri[] =>
  (workspace.workspaceFolders ?? []).flatMap(({ uri }) => (uri.scheme === "file" ? [uri] : []));

/** Returns true in Restricted Mode, in which no command of `lares` runs, after the editor's own question was opened. */
async function isRestricted(): Promise<boolean> {
  if (workspace.isTrusted) return false;
  await commands.executeCommand("workbench.trust.manage");
  return true;
}

/** Returns the folder whose `lares.yaml` gets the extension; undefined if there is none, or the person cancels. */
async function chooseRoot(): Promise<Where | undefined> {
  const roots = localRoots();
  if (roots.length === 0) {
    void window.showInformationMessage(
      "Open a folder first: an extension is installed for the work in a folder.",
    );
    return undefined;
  }
  const items = roots.map(({ fsPath }) => ({ label: label(fsPath), root: fsPath }));
  if (items.length === 1) return items[0];
  return window.showQuickPick(items, { title: "Which folder's lares.yaml gets it?" });
}

function folderArgument(given: unknown): string | undefined {
  const isNode = typeof given === "object" && given !== null && "package" in given;
  return isNode && typeof given.package === "string" ? given.package : undefined;
}

async function pickPackage(list: PackageList, title: string): Promise<ListedPackage | undefined> {
  const items = list.all.map((item) => ({
    label: nameOf(item),
    description: `${label(item.id)} ${label(item.version, 40)}`,
    item,
  }));
  if (items.length === 0) {
    void window.showInformationMessage("No extension is installed from a package.");
    return undefined;
  }
  return (await window.showQuickPick(items, { title, placeHolder: "Which extension?" }))?.item;
}

async function checkUpdates({ packages, list }: Deciding): Promise<void> {
  await list.refresh();
  const roots = [...new Set(list.all.map(({ root }) => root))];
  const failed: string[] = [];
  await withProgress("Looking for newer versions", async (signal) => {
    for (const root of roots) {
      const items = await packages.updates({ root, signal });
      list.checked(items, root);
      failed.push(
        ...items.flatMap(({ id, state, error }) => (state === "failed" ? `${id}: ${error ?? ""}` : [])),
      );
    }
  });
  const [first, ...others] = [...new Set(failed)];
  if (first !== undefined)
    throw new Error(others.length === 0 ? first : `${first} (and ${count(others.length, "other")})`);
  const newer = list.updates.size;
  void window.showInformationMessage(
    newer === 0 ? "All extensions are up to date." : `${count(newer, "extension")} can be updated.`,
  );
}

/** Installs the same extension once more, from where it came, which adds it to this workspace's document. */
async function useHere(deciding: Deciding, item: ListedPackage, where: Where): Promise<void> {
  if (item.source === null)
    throw new Error(
      `It is not known where ${label(item.id)} came from. Install it from its file, or add "- id: ${label(item.id)}" to the extensions of lares.yaml.`,
    );
  const wanted = item.index === null ? { reference: item.source } : { reference: item.id, from: item.index };
  await installAsked(deciding, wanted, where);
}

/** Opens the package's README as text, or its manifest if it has none. */
async function openReadme({ folder }: ListedPackage): Promise<void> {
  for (const name of ["README.md", "readme.md", "extension.yaml", "extension.toml"]) {
    const uri = Uri.joinPath(Uri.file(folder), name);
    const isThere = await Promise.resolve(workspace.fs.stat(uri)).then(
      () => true,
      () => false,
    );
    if (isThere) return void (await window.showTextDocument(uri, { preview: true }));
  }
  throw new Error(`There is neither a README nor a manifest in ${label(folder, 4_096)}.`);
}
