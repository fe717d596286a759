import { draw, drawPick } from "./drawn.ts";
import { Disposable, EventEmitter } from "./events.ts";
import { FakeQuickPick, type PickedBy, openList } from "./picks.ts";
import { type FakeChannel, type ShownMessage, type WebviewViewProvider, record } from "./record.ts";
import { tabGroups } from "./tabs.ts";
import { Uri } from "./values.ts";

type Button = string | { readonly title: string };

function show(severity: ShownMessage["severity"]) {
  return (text: string, ...rest: unknown[]): Promise<unknown> => {
    const [first] = rest;
    const options =
      typeof first === "object" && first !== null && !("title" in first)
        ? (first as { modal?: boolean; detail?: string })
        : null;
    const buttons = (options === null ? rest : rest.slice(1)) as Button[];
    return new Promise((resolve) => {
      const titles = buttons.map((button) => (typeof button === "string" ? button : button.title));
      draw("message", text, options?.detail, ...titles);
      record.messages.push({
        severity,
        text,
        detail: options?.detail,
        isModal: options?.modal === true,
        buttons: titles,
        answer: (title) => resolve(title === undefined ? undefined : buttons[titles.indexOf(title)]),
      });
    });
  };
}

function createOutputChannel(name: string): FakeChannel {
  draw("channel", name);
  const channel: FakeChannel = { name, lines: [], isShown: false, isDisposed: false };
  record.channels.push(channel);
  const at = (level: string) => (text: string) => channel.lines.push(`[${level}] ${text}`);
  return Object.assign(channel, {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    show: () => (channel.isShown = true),
    dispose: () => (channel.isDisposed = true),
  });
}

/** Fired by a test: the cursor moved, or another editor became active. */
export const editorsChanged = new EventEmitter<void>();

export const window = {
  tabGroups,

  registerWebviewViewProvider(id: string, provider: WebviewViewProvider): Disposable {
    record.views.set(id, provider);
    return new Disposable(() => record.views.delete(id));
  },
  /** The panel that a test has made ready; see `FakeWebview`. */
  nextPanel: undefined as unknown,
  /** Brings a panel back with what its page kept. */
  restorePanel: undefined as ((panel: unknown, state: unknown) => Promise<void>) | undefined,
  registerWebviewPanelSerializer(
    _type: string,
    serializer: { deserializeWebviewPanel(panel: never, state: unknown): Promise<void> },
  ): Disposable {
    this.restorePanel = (panel, state) => serializer.deserializeWebviewPanel(panel as never, state);
    return new Disposable(() => {
      this.restorePanel = undefined;
    });
  },
  createWebviewPanel(_type?: string, title?: string): unknown {
    draw("panel", title);
    record.panels.push(this.nextPanel);
    return this.nextPanel;
  },
  createOutputChannel,
  createTreeView: (): object =>
    Object.assign(new Disposable(() => undefined), {
      visible: false,
      onDidChangeVisibility: new EventEmitter<unknown>().event,
    }),
  showTextDocument: async (shown: Uri | undefined): Promise<void> => {
    if (shown !== undefined) record.opened.push(shown.toString());
  },
  state: { focused: true, active: true },
  createTextEditorDecorationType: (): Disposable => new Disposable(() => undefined),
  statusBarMessages: [] as string[],
  setStatusBarMessage(text: string): Disposable {
    draw("status bar", text);
    this.statusBarMessages.push(text);
    return new Disposable(() => {});
  },
  /** Cancels the last progress that was shown, as a person does. */
  cancelProgress: () => undefined as void,
  withProgress<Result>(
    options: unknown,
    run: (progress: unknown, token: { onCancellationRequested: unknown }) => Promise<Result>,
  ): Promise<Result> {
    draw("progress", (options as { title?: string }).title);
    const cancelled = new EventEmitter<void>();
    this.cancelProgress = () => cancelled.fire();
    return run({ report: () => undefined }, { onCancellationRequested: cancelled.event });
  },
  /** Picks the first item, or waits for the test's `pick`. */
  showQuickPick: async (items: readonly unknown[], options?: unknown): Promise<unknown> => {
    drawPick(items, options);
    return record.holdsPicks
      ? new Promise((resolve) => {
          openList.choose = (choose) => resolve(choose(items));
        })
      : items[0];
  },
  /** The list that was made last, to be driven by a test. */
  madePick: undefined as FakeQuickPick | undefined,
  createQuickPick(): FakeQuickPick {
    this.madePick = new FakeQuickPick();
    return this.madePick;
  },
  /** What the person types into an input box; undefined: nothing. */
  input: undefined as string | undefined,
  async showInputBox(options?: unknown): Promise<string | undefined> {
    drawPick([], options);
    return this.input;
  },
  /** What the person selects in a file dialog; undefined: nothing. */
  chosenFile: undefined as Uri | undefined,
  async showSaveDialog(options?: unknown): Promise<Uri | undefined> {
    drawPick([], options);
    return this.chosenFile;
  },
  async showOpenDialog(options?: unknown): Promise<Uri[] | undefined> {
    drawPick([], options);
    return this.chosenFile && [this.chosenFile];
  },
  /** The test's answer to the list that is shown. */
  pick(choose: PickedBy): void {
    if (openList.choose === null) throw new Error("No list is shown.");
    openList.choose(choose);
    openList.choose = null;
  },
  activeTextEditor: undefined as unknown,
  visibleTextEditors: [] as unknown[],
  onDidChangeTextEditorSelection: editorsChanged.event,
  onDidChangeActiveTextEditor: editorsChanged.event,
  onDidChangeVisibleTextEditors: editorsChanged.event,
  showInformationMessage: show("info"),
  showWarningMessage: show("warning"),
  showErrorMessage: show("error"),
};
