import { LaresError, notFound } from "../../base/errors.ts";
import type { FileContent, FileStat, NewFileOptions, RootedFs } from "./rooted-fs.ts";

interface WorkspaceRoot {
  /** The first component of its paths, if the workspace has more than one root. */
  readonly name: string;
  readonly files: RootedFs;
}

/**
 * The files of a whole workspace by its own paths: those of its only root, or `<root name>/…` if there are several.
 * The methods are those of `RootedFs`; two paths of one call must be in the same root.
 */
export class WorkspaceFiles {
  readonly roots: readonly WorkspaceRoot[];

  constructor(roots: readonly WorkspaceRoot[]) {
    this.roots = roots;
  }

  /** Returns the root of a path. Throws NotFound for an unknown root, and for a root itself where it needs a path. */
  locate(path: string): { readonly root: WorkspaceRoot; readonly path: string } {
    const [first] = this.roots;
    if (first !== undefined && this.roots.length === 1) return { root: first, path };
    const slash = path.indexOf("/");
    const name = slash < 0 ? path : path.slice(0, slash);
    const root = this.roots.find((candidate) => candidate.name === name);
    if (root === undefined) throw notFound("folder of the workspace", name);
    return { root, path: slash < 0 ? "." : path.slice(slash + 1) };
  }

  sameRoot(one: string, other: string): boolean {
    return this.locate(one).root === this.locate(other).root;
  }

  stat(path: string): Promise<FileStat | null> {
    return this.#at(path, (files, inner) => files.stat(inner));
  }
  readFile(path: string, options: { maxBytes: number }): Promise<Uint8Array> {
    return this.#at(path, (files, inner) => files.readFile(inner, options));
  }
  readRange(path: string, offset: number, length: number): Promise<{ bytes: Uint8Array; eof: boolean }> {
    return this.#at(path, (files, inner) => files.readRange(inner, offset, length));
  }
  hashFile(path: string) {
    return this.#at(path, (files, inner) => files.hashFile(inner));
  }
  readStream(path: string): AsyncGenerator<Uint8Array, void, void> {
    return this.#at(path, (files, inner) => files.readStream(inner));
  }
  list(path: string) {
    return this.#at(path, (files, inner) => files.list(inner));
  }
  writeNew(path: string, content: FileContent, options?: NewFileOptions): Promise<FileStat> {
    return this.#at(path, (files, inner) => files.writeNew(inner, content, options));
  }
  link(from: string, to: string): Promise<boolean> {
    return this.#between(from, to, (files, inner, target) => files.link(inner, target));
  }
  replace(from: string, to: string): Promise<void> {
    return this.#between(from, to, (files, inner, target) => files.replace(inner, target));
  }
  rename(from: string, to: string): Promise<void> {
    return this.#between(from, to, (files, inner, target) => files.rename(inner, target));
  }
  unlink(path: string): Promise<void> {
    return this.#at(path, (files, inner) => files.unlink(inner));
  }
  mkdir(path: string): Promise<void> {
    return this.#at(path, (files, inner) => files.mkdir(inner));
  }
  rmdir(path: string): Promise<boolean> {
    return this.#at(path, (files, inner) => files.rmdir(inner));
  }
  syncFolder(path: string): Promise<void> {
    return this.#at(path, (files, inner) => files.syncFolder(inner));
  }

  #at<Result>(path: string, run: (files: RootedFs, inner: string) => Result): Result {
    const place = this.locate(path);
    return run(place.root.files, place.path);
  }

  #between<Result>(
    from: string,
    to: string,
    run: (files: RootedFs, from: string, to: string) => Promise<Result>,
  ): Promise<Result> {
    const [source, target] = [this.locate(from), this.locate(to)];
    if (source.root !== target.root) {
      throw new LaresError("InvalidParams", `${from} and ${to} lie in different folders of the workspace.`);
    }
    return run(source.root.files, source.path, target.path);
  }
}
