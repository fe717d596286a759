import {
  Disposable,
  EventEmitter,
  FileSystemError,
  FileType,
  Uri,
  window,
  workspace,
  type FileChangeEvent,
  type FileSystemProvider,
} from "vscode";
import type { ClientContext } from "../feature.ts";
import { explain } from "../deciding/explain.ts";

const scheme = "lares-block";
/** In place of a conversation's id. An editor takes two slashes in a row for one. */
const ofAll = "all";

/** A block of a mind; with `id`, the one that a conversation has for itself. */
interface BlockName {
  readonly agent: string;
  readonly name: string;
  readonly id?: string;
}

/** Returns the address under which a block is a document. */
export function blockAddress({ agent, name, id }: BlockName): Uri {
  return Uri.from({
    scheme,
    path: `/${encodeURIComponent(agent)}/${id === undefined ? ofAll : encodeURIComponent(id)}/${encodeURIComponent(name)}.md`,
  });
}

export async function openBlock(address: Uri): Promise<void> {
  await window.showTextDocument(await workspace.openTextDocument(address), { preview: false });
}

/** Returns the block that an address names. */
export function blockIn({ path }: Pick<Uri, "path">): BlockName | undefined {
  const [, agent, id, file] = path.split("/");
  if (agent === undefined || id === undefined || file === undefined || !file.endsWith(".md"))
    return undefined;
  const name = decodeURIComponent(file.slice(0, -".md".length));
  const known = { agent: decodeURIComponent(agent), name };
  return id === ofAll ? known : { ...known, id: decodeURIComponent(id) };
}

/** Blocks as documents, so that a text of several lines is written in an editor: saving writes the block. */
export function blockDocuments({ kernel }: ClientContext): Disposable {
  const changed = new EventEmitter<FileChangeEvent[]>();
  const textOf = async (address: Uri): Promise<string> => {
    const named = blockIn(address);
    if (named === undefined) throw FileSystemError.FileNotFound(address);
    const { agent, name, id } = named;
    const { items } = await kernel.request("lares/conversations/blocks", {
      agent,
      ...(id === undefined ? {} : { id }),
    });
    const block = items.find((each) => each.name === name);
    if (block === undefined) throw FileSystemError.FileNotFound(address);
    return block.text;
  };
  const refused = (): never => {
    throw FileSystemError.NoPermissions("Blocks are named by the manifest of their agent.");
  };
  const provider: FileSystemProvider = {
    onDidChangeFile: changed.event,
    watch: () => new Disposable(() => undefined),
    stat: async (address) => ({
      type: FileType.File,
      ctime: 0,
      mtime: 0,
      size: Buffer.byteLength(await textOf(address)),
    }),
    readFile: async (address) => Buffer.from(await textOf(address)),
    writeFile: async (address, content) => {
      const named = blockIn(address);
      if (named === undefined) throw FileSystemError.FileNotFound(address);
      const text = Buffer.from(content).toString("utf8");
      try {
        await kernel.request("lares/conversations/editBlock", { ...named, text });
      } catch (error) {
        throw FileSystemError.NoPermissions(explain(error));
      }
    },
    readDirectory: () => [],
    createDirectory: refused,
    delete: refused,
    rename: refused,
  };
  return Disposable.from(changed, workspace.registerFileSystemProvider(scheme, provider));
}
