import {
  Disposable,
  EventEmitter,
  FileChangeType,
  FileDecoration,
  FileSystemError,
  FileType,
  MarkdownString,
  ThemeColor,
  Uri,
  window,
  workspace,
  type FileChangeEvent,
  type FileDecorationProvider,
  type FileStat,
  type FileSystemProvider,
} from "vscode";
import { plainLine } from "../../../kernel/src/base/plain-text.ts";
import type { ClientContext, Feature } from "../feature.ts";
import { decidedTitle } from "../model/decided.ts";
import { label, message } from "../model/text.ts";
import { impactSentence, levelWords, weightOf } from "../model/weight.ts";
import type { Action } from "../protocol.ts";
import { addressOf, changeScheme, type AboutAddress, type ChangeAddress } from "./addresses.ts";
import { hasContents } from "../model/effect-text.ts";
import { maxShownBytes } from "../deciding/content.ts";
import { ChangeContents } from "./contents.ts";
import { describeAction, describeEffect } from "./describe.ts";
import { editing } from "./edit.ts";
import { FileSystem } from "./file-system.ts";

/** The number of documents that are notified when their action changes; the least recently used are dropped first. */
const maxServed = 64;

interface Served {
  readonly uri: Uri;
  readonly address: ChangeAddress | AboutAddress;
  version: string;
  /** The modification time for the editor; grows when the content may have changed. */
  modified: number;
}

/**
 * Serves `lares-change:` read-only as a file system, so that the editor shows texts, pictures and binaries each in its
 * own way.
 */
export class ChangeFiles
  extends FileSystem
  implements FileSystemProvider, FileDecorationProvider, Disposable
{
  readonly #context: Pick<ClientContext, "models">;
  readonly #contents: Pick<ChangeContents, "read">;
  readonly #served = new Map<string, Served>();
  readonly #changed = new EventEmitter<FileChangeEvent[]>();
  readonly #decorated = new EventEmitter<Uri[]>();
  readonly #listening: Disposable;
  readonly onDidChangeFile = this.#changed.event;
  readonly onDidChangeFileDecorations = this.#decorated.event;

  constructor(context: Pick<ClientContext, "models">, contents: Pick<ChangeContents, "read">) {
    super();
    this.#context = context;
    this.#contents = contents;
    this.#listening = context.models.actions.onDidChange(() => this.#refresh());
  }

  async stat(uri: Uri): Promise<FileStat> {
    const served = this.#serve(uri);
    const { length } = await this.#load(served.address);
    return { type: FileType.File, ctime: 0, mtime: served.modified, size: length };
  }

  readFile(uri: Uri): Promise<Uint8Array> {
    return this.#load(this.#serve(uri).address);
  }

  /** Adds to the tooltip of a tab the outcome of the change, the reason for it, and its impact. */
  provideFileDecoration(uri: Uri): FileDecoration | undefined {
    const address = addressOf(uri);
    const { actions, agents } = this.#context.models;
    const action = address && actions.get(address.action);
    if (action === undefined) return undefined;
    const isStale = action.state === "Stale";
    const tooltip = [
      `${decidedTitle(action)}.`,
      `${label(agents.nameOf(action.agent), 80)}: ${message([action.title, action.reason].filter(Boolean).join(". "), 600)}`,
      `${levelWords[weightOf(action).level]}. ${impactSentence(action.effects)}`,
    ].join(" ");
    return new FileDecoration(
      isStale ? "!" : undefined,
      tooltip,
      isStale ? new ThemeColor("list.warningForeground") : undefined,
    );
  }

  writeFile(uri: Uri): never {
    throw FileSystemError.NoPermissions(uri);
  }

  dispose(): void {
    this.#listening.dispose();
    this.#changed.dispose();
    this.#decorated.dispose();
    this.#served.clear();
  }

  #serve(uri: Uri): Served {
    const address = addressOf(uri);
    if (address === undefined) throw FileSystemError.FileNotFound(uri);
    const key = uri.toString();
    const known = this.#served.get(key);
    const served: Served = known ?? {
      uri,
      address,
      version: this.#versionOf(address.action),
      modified: 1,
    };
    this.#served.delete(key);
    this.#served.set(key, served);
    for (const oldest of this.#served.keys()) {
      if (this.#served.size <= maxServed) break;
      this.#served.delete(oldest);
    }
    return served;
  }

  async #load(address: ChangeAddress | AboutAddress): Promise<Uint8Array> {
    try {
      const { actions, agents } = this.#context.models;
      const action = await actions.withDiffs(address.action);
      if (address.side === "about") return encoded(describeAction(action, agents.nameOf(action.agent)));
      return (
        (await this.#read(action, address)) ??
        notice(`This is larger than ${maxShownBytes / 1024 / 1024} MiB, and is not shown here.`)
      );
    } catch (error) {
      return notice(`This cannot be shown: ${messageOf(error)}`);
    }
  }

  async #read(action: Action, address: ChangeAddress): Promise<Uint8Array | null> {
    const { effect: index, side } = address;
    const effect = action.effects[index];
    if (effect === undefined) return notice(`The action has no change number ${index + 1}.`);
    if (hasContents(effect))
      return effect[side] === null ? new Uint8Array() : this.#contents.read(action, address);
    if (side === "before") return new Uint8Array();
    const isStored =
      effect.kind === "sidecar.write" || (effect.kind === "field.set" && effect.value === undefined);
    if (!isStored || effect.after === null) return encoded(describeEffect(effect));
    const stored = await this.#contents.read(action, address);
    return stored && encoded(describeEffect(effect, readable(new TextDecoder().decode(stored))));
  }

  #versionOf(id: string): string {
    const action = this.#context.models.actions.get(id);
    return action === undefined ? "" : `${action.digest} ${action.state}`;
  }

  /** Reloads the open documents of an action that has changed, and marks their tabs. */
  #refresh(): void {
    const changed: Uri[] = [];
    for (const served of this.#served.values()) {
      const version = this.#versionOf(served.address.action);
      if (version === "" || version === served.version) continue;
      served.version = version;
      served.modified += 1;
      changed.push(served.uri);
    }
    if (changed.length === 0) return;
    this.#changed.fire(changed.map((uri) => ({ type: FileChangeType.Changed, uri })));
    this.#decorated.fire(changed);
  }
}

/** The documents of changes, for reading and for editing, with one shared owner of their contents. */
export const changeDocuments: Feature = (context) => {
  const contents = new ChangeContents(context.kernel);
  const files = new ChangeFiles(context, contents);
  return Disposable.from(
    workspace.registerFileSystemProvider(changeScheme, files, {
      isCaseSensitive: true,
      isReadonly: new MarkdownString("This shows a change that an agent proposes; approve it or reject it."),
    }),
    window.registerFileDecorationProvider(files),
    files,
    editing(context, contents),
    contents,
  );
};

function notice(text: string): Uint8Array {
  return encoded(`${text}\n`);
}

function encoded(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Stored values are canonical JSON, on one line. */
function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch (error) {
    if (error instanceof SyntaxError) return text;
    throw error;
  }
}

function messageOf(error: unknown): string {
  return plainLine(error instanceof Error ? error.message : String(error)).slice(0, 1000);
}
