import {
  commands,
  Disposable,
  FileType,
  Uri,
  ViewColumn,
  window,
  workspace,
  type WebviewPanel,
} from "vscode";
import { rootNames } from "../../../kernel/src/base/root-names.ts";
import { refusalOf } from "../deciding/explain.ts";
import type { ClientContext } from "../feature.ts";
import { consentContract, maxSubfolders } from "../webviews/consent/messages.ts";
import { commonAnswers, onCommonState } from "./common-state.ts";
import { openPage } from "./webview-host.ts";

const consentType = "lares.consent";

interface ConsentPage extends Disposable {
  /** Opens the page, or shows the open one. Resolves once it is closed. */
  open(): Promise<void>;
  readonly isOpen: boolean;
}

/** The page on which a person grants and withholds what a workspace's documents request; at most one is open. */
export function consentPage(context: ClientContext, notNow: (digest: string) => Promise<void>): ConsentPage {
  let shown: { readonly panel: WebviewPanel; readonly closed: Promise<void> } | undefined;
  const open = (): Promise<void> => {
    if (shown !== undefined) {
      shown.panel.reveal();
      return shown.closed;
    }
    const panel = window.createWebviewPanel(consentType, "Permissions of Agents", ViewColumn.Active, {
      // Only the page knows the boxes that are ticked and not yet allowed.
      retainContextWhenHidden: true,
    });
    const parts = fill(context, panel, notNow);
    const closed = new Promise<void>((resolve) => {
      panel.onDidDispose(() => {
        parts.dispose();
        if (shown?.panel === panel) shown = undefined;
        resolve();
      });
    });
    shown = { panel, closed };
    return closed;
  };
  return {
    open,
    get isOpen() {
      return shown !== undefined;
    },
    dispose: () => shown?.panel.dispose(),
  };
}

function fill(
  context: ClientContext,
  panel: WebviewPanel,
  notNow: (digest: string) => Promise<void>,
): Disposable {
  const { kernel, models } = context;
  const channel = openPage(
    panel.webview,
    context,
    { name: "consent", title: "Permissions of Agents" },
    consentContract,
    {
      ...commonAnswers(context),
      question: async () => ({
        ...(await kernel.request("lares/trust/question", {})),
        folder: (workspace.workspaceFolders ?? [])
          .map(({ name }) => name)
          .join(", ")
          .slice(0, 1_000),
      }),
      program: ({ extension, path }) =>
        kernel.request("lares/trust/program", path === undefined ? { extension } : { extension, path }),
      subfolders: ({ path }) => subfolders(path),
      answer: async ({ digest, grants }) => {
        try {
          await kernel.request("lares/trust", {
            trusted: true,
            digest: digest as `sha256:${string}`,
            grants,
          });
        } catch (error) {
          if (refusalOf(error) === "DigestMismatch") return { accepted: false };
          throw error;
        }
        const isAny = grants.extensions.length > 0;
        window.setStatusBarMessage(
          isAny ? "$(check) Allowed. The agents are starting." : "$(check) No agent is allowed to run.",
          6_000,
        );
        // The answer to the page is sent before the page closes.
        setTimeout(() => panel.dispose(), 0);
        return { accepted: true };
      },
      notNow: async ({ digest }) => {
        await notNow(digest);
        setTimeout(() => panel.dispose(), 0);
        return {};
      },
    },
  );
  let known = models.status.current?.trust.digest;
  return Disposable.from(
    channel,
    onCommonState(context, (commonState) => channel.push("commonState", commonState)),
    models.status.onDidChange(() => {
      const digest = models.status.current?.trust.digest;
      if (digest === undefined || digest === known) return;
      known = digest;
      channel.push("changed", {});
    }),
  );
}

/**
 * Returns the folders inside a folder of the workspace, which is named as in its documents; hidden ones are not
 * offered.
 */
async function subfolders(path: string): Promise<{ names: string[]; more: number }> {
  const folders = workspace.workspaceFolders ?? [];
  const names = await namesIn(
    path,
    folders.map(({ uri }) => uri),
  );
  return { names: names.slice(0, maxSubfolders), more: Math.max(0, names.length - maxSubfolders) };
}

async function namesIn(path: string, roots: readonly Uri[]): Promise<string[]> {
  const segments = path === "." ? [] : path.split("/");
  // A path that leaves the workspace has no subfolders; the kernel refuses it anyway.
  if (segments.some((segment) => segment === "" || segment === "." || segment === "..")) return [];
  const [first] = roots;
  if (first === undefined) return [];
  let folder = first;
  if (roots.length > 1) {
    const known = rootNames(roots.map(({ fsPath }) => fsPath));
    const [root, ...rest] = segments;
    if (root === undefined) return [...known];
    const found = roots[known.indexOf(root)];
    if (found === undefined) return [];
    folder = Uri.joinPath(found, ...rest);
  } else folder = Uri.joinPath(first, ...segments);
  const entries = await workspace.fs.readDirectory(folder);
  return entries
    .filter(([name, type]) => type === FileType.Directory && !name.startsWith("."))
    .map(([name]) => name)
    .toSorted((one, other) => one.localeCompare(other));
}

/** If the folder is restricted, opens the editor's own question, which has to be answered before the kernel's. */
export async function restrictedFirst(): Promise<boolean> {
  if (workspace.isTrusted) return false;
  await commands.executeCommand("workbench.trust.manage");
  return true;
}
