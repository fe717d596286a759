import type { Contract } from "../webviews/shared/channel.ts";
import { connect, type Host } from "../webviews/shared/host.ts";
import { EventEmitter, seen, window } from "./vscode.ts";

/** The editor's side of a webview, with the page's end of its wire in it instead of a page. */
export class FakeWebview<C extends Contract> {
  readonly #received = new EventEmitter<unknown>();
  readonly #visibility = new EventEmitter<void>();
  readonly #disposed = new EventEmitter<void>();
  #toPage: (message: unknown) => void = () => undefined;
  readonly host: Host<C>;
  visible = true;
  /** As the editor has both: a view and a panel have their webview, and are told when it goes. */
  readonly surface = Object.defineProperty(
    {
      webview: {
        options: {},
        html: "",
        cspSource: "https://editor",
        asWebviewUri: (uri: unknown) => uri,
        onDidReceiveMessage: this.#received.event,
        // As the editor does, copies what is sent, and loses it if there is no page.
        postMessage: async (message: unknown) => {
          if (this.visible) this.#toPage(structuredClone(message));
          return this.visible;
        },
      },
      title: "",
      reveal: () => void (this.revealed += 1),
      dispose: () => this.close(),
      onDidChangeVisibility: this.#visibility.event,
      onDidChangeViewState: this.#visibility.event,
      onDidDispose: this.#disposed.event,
    },
    "visible",
    { get: () => this.visible },
  );

  constructor(contract: C) {
    this.host = connect(contract, {
      postMessage: (message) => this.#received.fire(structuredClone(message)),
      onMessage: (listener) => {
        this.#toPage = listener;
      },
    });
  }

  /** Shows it as the view of this id, which is registered. */
  asView(id: string): this {
    const provider = seen.views.get(id);
    if (provider === undefined) throw new Error(`No view ${id} is registered.`);
    provider.resolveWebviewView(this.surface as never);
    return this;
  }

  /** Is the next panel that is opened. */
  asPanel(): this {
    window.nextPanel = this.surface;
    return this;
  }

  become(visible: boolean): void {
    this.visible = visible;
    this.#visibility.fire();
  }

  isClosed = false;
  /** How often it was brought to the front. */
  revealed = 0;

  close(): void {
    this.isClosed = true;
    this.#disposed.fire();
  }
}
