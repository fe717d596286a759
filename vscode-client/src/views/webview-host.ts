import { randomBytes } from "node:crypto";
import { Disposable, Uri, window, type Webview, type WebviewView } from "vscode";
import type { ClientContext } from "../feature.ts";
import type { Kernel } from "../kernel/kernel.ts";
import type { Contract } from "../webviews/shared/channel.ts";
import type { commonPushes } from "../webviews/shared/common-state.ts";
import { PageChannel, type Answers } from "./page-channel.ts";
import { onCommonState } from "./common-state.ts";
import { pageOf } from "./webview-page.ts";

interface ViewContract extends Contract {
  readonly pushes: typeof commonPushes & Contract["pushes"];
}

/** Opens a page of the extension: sets what it may load, and answers its requests. */
export function openPage<C extends Contract>(
  webview: Webview,
  { extension }: Pick<ClientContext, "extension">,
  { name, title }: { readonly name: string; readonly title: string },
  contract: C,
  answers: Answers<C>,
): PageChannel<C> {
  const root = Uri.joinPath(extension.extensionUri, "dist", "webviews");
  webview.options = { enableScripts: true, localResourceRoots: [root] };
  const channel = new PageChannel(webview, contract, answers);
  webview.html = pageOf({
    cspSource: webview.cspSource,
    scriptUri: webview.asWebviewUri(Uri.joinPath(root, `${name}.js`)).toString(),
    styleUri: webview.asWebviewUri(Uri.joinPath(root, `${name}.css`)).toString(),
    nonce: randomBytes(16).toString("base64url"),
    title,
  });
  return channel;
}

/** How long a page waits for a starting kernel before it shows that the kernel is starting. */
export const pageWaitsMs = 2_000;

/**
 * Resolves once the kernel is there, or will not be soon; false if the view was closed before. The page is not loaded
 * earlier, because its own browser process would compete with the kernel's start and the tree of agents for the
 * processor. The editor shows a progress indicator meanwhile.
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

/** A view while it is visible. The editor discards the page of a hidden view, and nothing is done for it. */
interface Seen<C extends ViewContract> {
  readonly channel: PageChannel<C>;
  readonly view: WebviewView;
}

interface ViewParts<C extends ViewContract> {
  /** As named in package.json: "lares.activity". */
  readonly id: string;
  /** The name of its script and style sheet. */
  readonly name: string;
  readonly title: string;
  readonly contract: C;
  readonly answers: Answers<C>;
  /** Runs while the view is visible; disposed when it is hidden or closed. */
  whileSeen?(seen: Seen<C>): Disposable;
}

/** Registers a webview view that gets the common state, and exists only while it is visible. */
export function registerView<C extends ViewContract>(
  context: ClientContext,
  { id, name, title, contract, answers, whileSeen }: ViewParts<C>,
): Disposable {
  const open = (view: WebviewView): void => {
    const channel = openPage(view.webview, context, { name, title }, contract, answers);
    let work: Disposable | undefined;
    const look = (): void => {
      if (!view.visible) {
        work?.dispose();
        work = undefined;
      } else {
        work ??= Disposable.from(
          onCommonState(context, (commonState) => channel.push("commonState", commonState)),
          ...(whileSeen === undefined ? [] : [whileSeen({ channel, view })]),
        );
      }
    };
    const watching = view.onDidChangeVisibility(look);
    view.onDidDispose(() => Disposable.from(watching, channel, ...(work ? [work] : [])).dispose());
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
