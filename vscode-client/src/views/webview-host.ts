import { randomBytes } from "node:crypto";
import { Disposable, Uri, window, type Webview, type WebviewView } from "vscode";
import type { ClientContext } from "../feature.ts";
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
  return window.registerWebviewViewProvider(id, {
    resolveWebviewView(view) {
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
    },
  });
}
