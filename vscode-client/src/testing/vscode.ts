/**
 * Replaces `vscode` in unit tests (an alias in vitest.config.ts): plain values as the editor has them, and a window and
 * a workspace that record what was asked of them. The end-to-end suites test what the client shows in a real editor.
 */

/** Text that the client gave to a part of the editor that draws more than text, and the file that gave it. */
export interface DrawnText {
  readonly file: string;
  readonly surface: string;
  readonly text: string;
}

/** The file of the client that called, below `src/`. */
function callerFile(): string {
  const frames = (new Error("for its stack").stack ?? "").split("\n");
  const path = frames
    .map((frame) => /vscode-client\/src\/([^?:)]+)/.exec(frame)?.[1])
    .find((found) => found !== undefined && found !== "testing/vscode.ts");
  return path ?? "";
}

function draw(surface: string, ...texts: readonly unknown[]): void {
  const file = callerFile();
  for (const text of texts) if (typeof text === "string") seen.drawn.push({ file, surface, text });
}

/** Every text of a list to pick from, and of what is around it. */
function drawPick(items: readonly unknown[], options: unknown): void {
  for (const item of [...items, options]) {
    if (typeof item !== "object" || item === null) continue;
    for (const key of ["label", "description", "detail", "title", "placeHolder", "prompt", "placeholder"])
      draw("quick pick", (item as Record<string, unknown>)[key]);
  }
}

export class Disposable {
  readonly #dispose: () => void;
  constructor(dispose: () => void) {
    this.#dispose = dispose;
  }
  static from(...items: { dispose(): unknown }[]): Disposable {
    return new Disposable(() => {
      for (const item of items) item.dispose();
    });
  }
  dispose(): void {
    this.#dispose();
  }
}

export class EventEmitter<Value> {
  readonly #listeners = new Set<(value: Value) => unknown>();
  readonly event = (listener: (value: Value) => unknown): Disposable => {
    this.#listeners.add(listener);
    return new Disposable(() => this.#listeners.delete(listener));
  };
  fire(value: Value): void {
    for (const listener of Array.from(this.#listeners)) listener(value);
  }
  dispose(): void {
    this.#listeners.clear();
  }
}

export class Uri {
  readonly scheme: string;
  readonly authority: string;
  readonly path: string;
  readonly query: string;
  readonly fragment: string;

  constructor(scheme: string, authority: string, path: string, query = "", fragment = "") {
    this.scheme = scheme;
    this.authority = authority;
    this.path = path;
    this.query = query;
    this.fragment = fragment;
  }
  static file(path: string): Uri {
    return new Uri("file", "", path.startsWith("/") ? path : `/${path}`);
  }
  static parse(text: string): Uri {
    const match = /^([a-z][\w+.-]*):(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/i.exec(text);
    const [, scheme = "file", authority = "", path = text, query = "", fragment = ""] = match ?? [];
    const decode = decodeURIComponent;
    return new Uri(scheme, decode(authority), decode(path), decode(query), decode(fragment));
  }
  static from(parts: { scheme: string; authority?: string; path?: string; query?: string }): Uri {
    return new Uri(parts.scheme, parts.authority ?? "", parts.path ?? "", parts.query);
  }
  static joinPath(base: Uri, ...segments: string[]): Uri {
    const joined = [base.path.replace(/\/$/, ""), ...segments].filter(Boolean).join("/");
    return new Uri(base.scheme, base.authority, joined, base.query, base.fragment);
  }
  get fsPath(): string {
    return this.path;
  }
  with(change: { scheme?: string; authority?: string; path?: string; query?: string }): Uri {
    return new Uri(
      change.scheme ?? this.scheme,
      change.authority ?? this.authority,
      change.path ?? this.path,
      change.query ?? this.query,
      this.fragment,
    );
  }
  toString(): string {
    const authority = this.authority === "" && this.scheme !== "file" ? "" : `//${this.authority}`;
    const query = this.query === "" ? "" : `?${encodeURIComponent(this.query)}`;
    return `${this.scheme}:${authority}${encodeURI(this.path)}${query}`;
  }
}

export class Position {
  readonly line: number;
  readonly character: number;
  constructor(line: number, character: number) {
    this.line = line;
    this.character = character;
  }
}

export class Range {
  readonly start: Position;
  readonly end: Position;
  constructor(startLine: number, startCharacter: number, endLine: number, endCharacter: number) {
    this.start = new Position(startLine, startCharacter);
    this.end = new Position(endLine, endCharacter);
  }
}

export class Selection extends Range {
  readonly active = this.end;
}

export const TextEditorRevealType = { InCenterIfOutsideViewport: 2 } as const;

/** Changes files in the editor; the client creates it only to change none. */
export class WorkspaceEdit {
  readonly size = 0;
}

export class ThemeColor {
  readonly id: string;
  constructor(id: string) {
    this.id = id;
  }
}

export class ThemeIcon {
  static readonly File = new ThemeIcon("file");
  static readonly Folder = new ThemeIcon("folder");
  readonly id: string;
  readonly color: ThemeColor | undefined;
  constructor(id: string, color?: ThemeColor) {
    this.id = id;
    this.color = color;
  }
}

export class MarkdownString {
  value: string;
  isTrusted = false;
  supportHtml = false;
  supportThemeIcons: boolean;
  constructor(value = "", supportThemeIcons = false) {
    this.value = value;
    this.supportThemeIcons = supportThemeIcons;
    draw("markdown", value);
  }
  appendMarkdown(markdown: string): this {
    draw("markdown", markdown);
    this.value += markdown;
    return this;
  }
  /** As the editor escapes what is not to be read as Markdown. */
  appendText(text: string): this {
    this.value += text
      .replaceAll(/[\\`*_{}[\]()#+\-!~<>|]/g, String.raw`\$&`)
      .replaceAll("&", "&amp;")
      .replaceAll(/[ \t]/g, "&nbsp;")
      .replaceAll("\n", "\n\n");
    return this;
  }
}

export class FileDecoration {
  readonly badge: string | undefined;
  readonly tooltip: string | undefined;
  readonly color: ThemeColor | undefined;
  propagate = false;
  constructor(badge?: string, tooltip?: string, color?: ThemeColor) {
    draw("decoration", badge, tooltip);
    this.badge = badge;
    this.tooltip = tooltip;
    this.color = color;
  }
}

/** As the editor's: `code` is the name of what made it. */
export class FileSystemError extends Error {
  readonly code: string;
  constructor(code: string, uri: Uri) {
    super(`${code}: ${uri.toString()}`);
    this.code = code;
  }
  static FileNotFound = (uri: Uri): FileSystemError => new FileSystemError("FileNotFound", uri);
  static FileNotADirectory = (uri: Uri): FileSystemError => new FileSystemError("FileNotADirectory", uri);
  static NoPermissions = (uri: Uri): FileSystemError => new FileSystemError("NoPermissions", uri);
}

export class LanguageModelTextPart {
  readonly value: string;
  constructor(value: string) {
    this.value = value;
  }
}

export class LanguageModelToolCallPart {
  readonly callId: string;
  readonly name: string;
  readonly input: object;
  constructor(callId: string, name: string, input: object) {
    [this.callId, this.name, this.input] = [callId, name, input];
  }
}

export class LanguageModelToolResultPart {
  readonly callId: string;
  readonly content: readonly unknown[];
  constructor(callId: string, content: readonly unknown[]) {
    [this.callId, this.content] = [callId, content];
  }
}

export const LanguageModelChatMessage = {
  User: (content: readonly unknown[]) => ({ role: "user", content }),
  Assistant: (content: readonly unknown[]) => ({ role: "assistant", content }),
};

export class LanguageModelError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The models of the editor, which a test sets. */
export const lm = {
  models: [] as unknown[],
  selectChatModels: (): Promise<unknown[]> => Promise.resolve(lm.models),
};

export class LanguageModelToolResult {
  readonly content: readonly unknown[];
  constructor(content: readonly unknown[]) {
    this.content = content;
  }
}

export const FileType = { Unknown: 0, File: 1, Directory: 2, SymbolicLink: 64 } as const;
export const FileChangeType = { Changed: 1, Created: 2, Deleted: 3 } as const;
export const OverviewRulerLane = { Left: 1, Center: 2, Right: 4, Full: 7 } as const;
export const TreeItemCollapsibleState = { None: 0, Collapsed: 1, Expanded: 2 } as const;

export class TreeItem {
  label: string;
  collapsibleState: number;
  id?: string;
  description?: string;
  tooltip?: unknown;
  iconPath?: unknown;
  resourceUri?: Uri;
  contextValue?: string;
  command?: unknown;
  accessibilityInformation?: { label: string };
  constructor(label: string, collapsibleState: number = TreeItemCollapsibleState.None) {
    draw("tree", label);
    this.label = label;
    this.collapsibleState = collapsibleState;
  }
}

export const StatusBarAlignment = { Left: 1, Right: 2 } as const;
export const ExtensionMode = { Production: 1, Development: 2, Test: 3 } as const;
export class CancellationError extends Error {}
export const ProgressLocation = { SourceControl: 1, Window: 10, Notification: 15 } as const;
export const QuickPickItemKind = { Separator: -1, Default: 0 } as const;

/** One message that was shown, and how the test answers it. */
export interface ShownMessage {
  readonly severity: "info" | "warning" | "error";
  readonly text: string;
  readonly detail: string | undefined;
  readonly isModal: boolean;
  readonly buttons: readonly string[];
  answer(button: string | undefined): void;
}

/** What the client showed and did since `forget()`. */
export const seen = {
  messages: [] as ShownMessage[],
  drawn: [] as DrawnText[],
  commands: [] as { id: string; arguments: unknown[] }[],
  channels: [] as FakeChannel[],
  /** When files were last written, where a test says so; the others are just written. */
  modified: new Map<string, number>(),
  /** What fills webview views, by the view's id. */
  views: new Map<string, WebviewViewProvider>(),
  /** Webviews that were opened beside the editors, the newest last. */
  panels: [] as unknown[],
  clipboard: "",
  /** Titles of tabs that were closed. */
  closedTabs: [] as string[],
  /** Documents that were shown. */
  opened: [] as string[],
  /** If true, lists wait for the test's `window.pick`; otherwise the first item is picked. */
  holdsPicks: false,
  forget(): void {
    this.holdsPicks = false;
    this.channels.length = 0;
    this.opened.length = 0;
    this.closedTabs.length = 0;
    this.views.clear();
    this.panels.length = 0;
    this.clipboard = "";
    files.clear();
    filesChanged.dispose();
    workspace.trustGranted.dispose();
    tabsChanged.dispose();
    editorsChanged.dispose();
    textsChanged.dispose();
    window.activeTextEditor = undefined;
    window.visibleTextEditors = [];
    this.modified.clear();
    this.messages.length = 0;
    this.drawn.length = 0;
    this.commands.length = 0;
    registered.clear();
    workspace.workspaceFolders = undefined;
    workspace.textDocuments = [];
    workspace.isTrusted = true;
    workspace.settings = {};
    workspace.openedTexts = [];
    window.statusBarMessages = [];
    window.visibleTextEditors = [];
    window.chosenFile = undefined;
    openPick = null;
  },
};

interface WebviewViewProvider {
  resolveWebviewView(view: never): void;
}

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
      seen.messages.push({
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

export class TabInputText {
  readonly uri: Uri;
  constructor(uri: Uri) {
    this.uri = uri;
  }
}

export class TabInputTextDiff {
  readonly original: Uri;
  readonly modified: Uri;
  constructor(original: Uri, modified: Uri) {
    this.original = original;
    this.modified = modified;
  }
}

export class TabInputWebview {
  readonly viewType: string;
  constructor(viewType: string) {
    this.viewType = viewType;
  }
}

interface FakeTab {
  readonly label: string;
  readonly input: unknown;
}

const tabsChanged = new EventEmitter<void>();

/** Fired by a test: the cursor moved, or another editor became active. */
export const editorsChanged = new EventEmitter<void>();
/** Fired by a test: a text was typed or saved. */
export const textsChanged = new EventEmitter<{ readonly document: unknown }>();

/** Sets the active tab and notifies listeners. */
export function showTab(tab: FakeTab | undefined): void {
  window.tabGroups.activeTabGroup.activeTab = tab;
  tabsChanged.fire();
}

/** A log channel that keeps what it was given. */
export interface FakeChannel {
  readonly name: string;
  readonly lines: string[];
  isShown: boolean;
  isDisposed: boolean;
}

function createOutputChannel(name: string): FakeChannel {
  draw("channel", name);
  const channel: FakeChannel = { name, lines: [], isShown: false, isDisposed: false };
  seen.channels.push(channel);
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
type PickedBy = (items: readonly unknown[]) => unknown;
let openPick: ((choose: PickedBy) => void) | null = null;

/** A list that stays open while it is answered. */
export class FakeQuickPick {
  title = "";
  placeholder = "";
  matchOnDescription = false;
  matchOnDetail = false;
  activeItems: readonly unknown[] = [];
  isShown = false;
  isDisposed = false;
  readonly button = new EventEmitter<{ readonly button: unknown; readonly item: unknown }>();
  readonly #accepted = new EventEmitter<void>();
  readonly #hidden = new EventEmitter<void>();
  readonly onDidTriggerItemButton = this.button.event;
  readonly onDidAccept = this.#accepted.event;
  readonly onDidHide = this.#hidden.event;
  #items: readonly unknown[] = [];

  get items(): readonly unknown[] {
    return this.#items;
  }
  set items(items: readonly unknown[]) {
    drawPick(items, this);
    this.#items = items;
  }
  show(): void {
    this.isShown = true;
  }
  hide(): void {
    this.isShown = false;
    this.#hidden.fire();
  }
  accept(item: unknown): void {
    this.activeItems = [item];
    this.#accepted.fire();
  }
  dispose(): void {
    this.isDisposed = true;
  }
}

/** A version whose secondary side bar has views of extensions. */
export const version = "1.117.0";

export class Location {
  readonly uri: Uri;
  readonly range: Range;
  constructor(uri: Uri, range: Range) {
    this.uri = uri;
    this.range = range;
  }
}

/** Addresses that were opened in a browser. */
export const openedAddresses: string[] = [];
/** A chat that the editor has, with what took part in it. */
export const chat = {
  participants: new Map<string, (...given: never[]) => Promise<unknown>>(),
  createChatParticipant(id: string, handler: (...given: never[]) => Promise<unknown>): Disposable {
    this.participants.set(id, handler);
    return new Disposable(() => this.participants.delete(id));
  },
};

export const env = {
  openExternal: async (uri: Uri): Promise<boolean> => openedAddresses.push(uri.toString()) > 0,
  clipboard: {
    writeText: async (text: string): Promise<void> => {
      seen.clipboard = text;
    },
  },
};
export const ViewColumn = { Active: -1, Beside: -2 } as const;

export const window = {
  tabGroups: {
    activeTabGroup: {
      activeTab: undefined as FakeTab | undefined,
      /** Tabs that are open behind the active one. */
      others: [] as FakeTab[],
      viewColumn: 1,
      get tabs(): FakeTab[] {
        return [...(this.activeTab === undefined ? [] : [this.activeTab]), ...this.others];
      },
    },
    get all() {
      return [this.activeTabGroup];
    },
    onDidChangeTabs: tabsChanged.event,
    onDidChangeTabGroups: tabsChanged.event,
    close: async (given: FakeTab | readonly FakeTab[]): Promise<void> => {
      const group = window.tabGroups.activeTabGroup;
      for (const tab of [given].flat()) {
        seen.closedTabs.push(tab.label);
        if (group.activeTab === tab) group.activeTab = undefined;
        group.others = group.others.filter((other) => other !== tab);
      }
    },
  },
  registerWebviewViewProvider(id: string, provider: WebviewViewProvider): Disposable {
    seen.views.set(id, provider);
    return new Disposable(() => seen.views.delete(id));
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
    seen.panels.push(this.nextPanel);
    return this.nextPanel;
  },
  createOutputChannel,
  createTreeView: (): object =>
    Object.assign(new Disposable(() => undefined), {
      visible: false,
      onDidChangeVisibility: new EventEmitter<unknown>().event,
    }),
  showTextDocument: async (shown: Uri | undefined): Promise<void> => {
    if (shown !== undefined) seen.opened.push(shown.toString());
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
    return seen.holdsPicks
      ? new Promise((resolve) => {
          openPick = (choose) => resolve(choose(items));
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
    if (openPick === null) throw new Error("No list is shown.");
    openPick(choose);
    openPick = null;
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

/** A file came or went; fired by a test. */
export const filesChanged = new EventEmitter<void>();

export class CodeLens {
  readonly range: Range;
  readonly command: { readonly title: string; readonly command: string };
  constructor(range: Range, command: CodeLens["command"]) {
    draw("lens", command.title);
    this.range = range;
    this.command = command;
  }
}

interface FakeLensProvider {
  provideCodeLenses(document: never, token: never): unknown;
}

export const languages = {
  lensProviders: [] as FakeLensProvider[],
  registerCodeLensProvider(_selector: unknown, provider: FakeLensProvider): Disposable {
    this.lensProviders.push(provider);
    return new Disposable(() => {
      this.lensProviders = this.lensProviders.filter((other) => other !== provider);
    });
  },
};

/** Files that a test lays down, by their address. */
export const files = new Map<string, Uint8Array>();

const fileSystem = {
  async stat(uri: Uri): Promise<{ type: number; size: number; mtime: number }> {
    const key = uri.toString();
    const content = files.get(key);
    if (content === undefined) throw FileSystemError.FileNotFound(uri);
    return { type: FileType.File, size: content.length, mtime: seen.modified.get(key) ?? Date.now() };
  },
  async readFile(uri: Uri): Promise<Uint8Array> {
    const content = files.get(uri.toString());
    if (content === undefined) throw FileSystemError.FileNotFound(uri);
    return content;
  },
  async copy(from: Uri, to: Uri): Promise<void> {
    const content = await this.readFile(from);
    if (files.has(to.toString())) throw new FileSystemError("FileExists", to);
    files.set(to.toString(), content);
  },
};

interface FakeDocument {
  readonly uri: Uri;
  readonly isDirty: boolean;
  save(): Promise<boolean>;
  getText?(): string;
}

interface FakeWatcher extends Disposable {
  onDidCreate(listener: () => void): Disposable;
  onDidDelete(listener: () => void): Disposable;
}

export const workspace: {
  isTrusted: boolean;
  workspaceFolders: { readonly uri: Uri; readonly name: string; readonly index: number }[] | undefined;
  textDocuments: FakeDocument[];
  /** Settings by their whole name; others have the default that the caller passes. */
  settings: Record<string, unknown>;
  /** Texts that were opened as documents of no file. */
  openedTexts: string[];
  getConfiguration(section: string): { get<Value>(name: string, otherwise: Value): Value };
  readonly fs: typeof fileSystem;
  /** What serves the documents of a scheme. */
  readonly fileSystems: Map<string, unknown>;
  registerFileSystemProvider(scheme: string, provider: unknown): Disposable;
  onDidSaveTextDocument(listener: (document: unknown) => void): Disposable;
  onDidChangeTextDocument(listener: (change: { readonly document: unknown }) => void): Disposable;
  openTextDocument(options: { content: string }): Promise<unknown>;
  createFileSystemWatcher(): FakeWatcher;
  /** Fired by a test. */
  readonly trustGranted: EventEmitter<void>;
  onDidGrantWorkspaceTrust(listener: () => void): Disposable;
  onDidChangeWorkspaceFolders(listener: () => void): Disposable;
  onDidChangeTextDocument(listener: () => void): Disposable;
  onDidSaveTextDocument(listener: () => void): Disposable;
} = {
  isTrusted: true,
  workspaceFolders: undefined,
  textDocuments: [],
  settings: {},
  fs: fileSystem,
  fileSystems: new Map(),
  registerFileSystemProvider(scheme, provider) {
    this.fileSystems.set(scheme, provider);
    return new Disposable(() => this.fileSystems.delete(scheme));
  },
  onDidSaveTextDocument: (listener) => textsChanged.event(({ document }) => listener(document)),
  onDidChangeTextDocument: (listener) => textsChanged.event(listener),
  openedTexts: [],
  openTextDocument: async ({ content }) => void workspace.openedTexts.push(content),
  createFileSystemWatcher: () =>
    Object.assign(new Disposable(() => undefined), {
      onDidCreate: (listener: () => void) => filesChanged.event(listener),
      onDidDelete: (listener: () => void) => filesChanged.event(listener),
    }),
  trustGranted: new EventEmitter(),
  onDidGrantWorkspaceTrust: (listener) => workspace.trustGranted.event(listener),
  onDidChangeWorkspaceFolders: () => new Disposable(() => undefined),
  getConfiguration: (section) => ({
    get: (name, otherwise) => (workspace.settings[`${section}.${name}`] ?? otherwise) as typeof otherwise,
  }),
};

const registered = new Map<string, (...values: never[]) => unknown>();

export const commands = {
  registerCommand(id: string, run: (...values: never[]) => unknown): Disposable {
    if (registered.has(id)) throw new Error(`command '${id}' already exists`);
    registered.set(id, run);
    return new Disposable(() => registered.delete(id));
  },
  async executeCommand(id: string, ...values: unknown[]): Promise<unknown> {
    seen.commands.push({ id, arguments: values });
    if (id.startsWith("vscode.")) draw("tab", ...values);
    return registered.get(id)?.(...(values as never[]));
  },
};
