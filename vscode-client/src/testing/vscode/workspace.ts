import { Disposable, EventEmitter } from "./events.ts";
import { record } from "./record.ts";
import { FileSystemError, FileType, Uri } from "./values.ts";

/** Fired by a test: a text was typed or saved. */
export const textsChanged = new EventEmitter<{ readonly document: unknown }>();

/** A file came or went; fired by a test. */
export const filesChanged = new EventEmitter<void>();

/** Files that a test lays down, by their address. */
export const files = new Map<string, Uint8Array>();

const fileSystem = {
  async stat(uri: Uri): Promise<{ type: number; size: number; mtime: number }> {
    const key = uri.toString();
    const content = files.get(key);
    if (content === undefined) throw FileSystemError.FileNotFound(uri);
    return { type: FileType.File, size: content.length, mtime: record.modified.get(key) ?? Date.now() };
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
