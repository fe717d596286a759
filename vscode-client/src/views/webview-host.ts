import { randomBytes } from "node:crypto";
import { Disposable, Uri, window, type Webview, type WebviewView } from "vscode";
import type { ClientContext } from "../feature.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { Contract } from "../webviews/shared/channel.ts";
import type { commonPushes } from "../webviews/shared/situation.ts";
import { Conversation, type Answers } from "./conversation.ts";
import { onSituation } from "./situation.ts";
import { pageOf } from "./webview-page.ts";

export interface ViewContract extends Contract {
  readonly pushes: typeof commonPushes & Contract["pushes"];
}

/** A page of the extension's own: gives it what it may load, and answers it. */
export function openPage<C extends Contract>(
  webview: Webview,
  { extension }: Pick<ClientContext, "extension">,
  { name, title }: { readonly name: string; readonly title: string },
  contract: C,
  answers: Answers<C>,
): Conversation<C> {
  const root = Uri.joinPath(extension.extensionUri, "dist", "webviews");
  webview.options = { enableScripts: true, localResourceRoots: [root] };
  const conversation = new Conversation(webview, contract, answers);
  webview.html = pageOf({
    cspSource: webview.cspSource,
    scriptUri: webview.asWebviewUri(Uri.joinPath(root, `${name}.js`)).toString(),
    styleUri: webview.asWebviewUri(Uri.joinPath(root, `${name}.css`)).toString(),
    nonce: randomBytes(16).toString("base64url"),
    title,
  });
  return conversation;
}

/** A page waits so long for a kernel that starts, and says then that it does. */
export const pageWaitsMs = 2_000;

/**
 * Resolves once the kernel is there, or is not going to be soon; false where the view was closed before. A page, which is
 * a browser of its own, would take the processor from the kernel's start and from the tree of its agents. The editor
 * shows meanwhile that something is coming.
 */
function begun(kernel: Kernel, view: WebviewView): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (isThere: boolean): void => {
      clearTimeout(timer);
      watching.dispose();
      resolve(isThere);
    };
    const timer = setTimeout(() => end(true), pageWaitsMs);
    const watching = Disposable.from(
      kernel.onDidChangeState(({ kind }) => {
        if (kind !== "starting") end(true);
      }),
      view.onDidDispose(() => end(false)),
    );
  });
}

/** A view while it is seen. The editor throws a hidden view's page away, and nothing is done for it. */
export interface Seen<C extends ViewContract> {
  readonly conversation: Conversation<C>;
  readonly view: WebviewView;
}

export interface ViewParts<C extends ViewContract> {
  /** As package.json names it: "lares.activity". */
  readonly id: string;
  /** Of its script and style. */
  readonly name: string;
  readonly title: string;
  readonly contract: C;
  readonly answers: Answers<C>;
  /** What goes on while the view is seen; disposed when it is hidden or closed. */
  whileSeen?(seen: Seen<C>): Disposable;
}

/** Registers a webview view: told of the kernel's situation, and alive only while it is seen. */
export function registerView<C extends ViewContract>(
  context: ClientContext,
  { id, name, title, contract, answers, whileSeen }: ViewParts<C>,
): Disposable {
  const open = (view: WebviewView): void => {
    const conversation = openPage(view.webview, context, { name, title }, contract, answers);
    let work: Disposable | undefined;
    const look = (): void => {
      if (!view.visible) {
        work?.dispose();
        work = undefined;
      } else {
        work ??= Disposable.from(
          onSituation(context, (situation) => conversation.push("situation", situation)),
          ...(whileSeen === undefined ? [] : [whileSeen({ conversation, view })]),
        );
      }
    };
    const watching = view.onDidChangeVisibility(look);
    view.onDidDispose(() => Disposable.from(watching, conversation, ...(work ? [work] : [])).dispose());
    look();
  };
  return window.registerWebviewViewProvider(id, {
    resolveWebviewView(view) {
      if (context.kernel.state.kind !== "starting") return open(view);
      return begun(context.kernel, view).then((isThere) => {
        if (isThere) open(view);
      });
    },
  });
}
