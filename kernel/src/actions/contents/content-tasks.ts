import { sha256, sha256Sum, type Sha256Sum } from "../../platform/files/hash.ts";
import type { WorkspaceFiles } from "../../platform/files/workspace-files.ts";
import { invalidParams } from "../../base/errors.ts";
import { isExecutable } from "../../policy/executable.ts";
import { changedShare } from "../../policy/impact.ts";
import type {
  ChangedContent,
  ChangeRequest,
  ContentRequest,
  ContentSource,
  FolderListing,
  HashAnswer,
  HashedValue,
  HashRequest,
} from "../content-requests.ts";
import { hashedValue } from "../values.ts";
import { listFolder } from "./folder-listing.ts";
import { contentOf } from "../planning/inputs.ts";
import { actionLimits } from "../limits.ts";
import { merged } from "./merge.ts";
import { Packages } from "./package-targets.ts";
import { applyEdits, textOf, unifiedDiff } from "../text.ts";

const pieceBytes = 1048576;

/** Does the work on contents. The kernel runs it in a thread, see `content-work.ts`. */
export class ContentTasks {
  readonly #files: WorkspaceFiles;
  readonly #hashing = new Hashing();
  readonly #packages: Packages;

  constructor(files: WorkspaceFiles) {
    this.#files = files;
    this.#packages = new Packages(files);
  }

  run(request: ContentRequest): Promise<ChangedContent | HashAnswer | FolderListing | HashedValue | boolean> {
    switch (request.do) {
      case "change":
        return change(this.#files, request);
      case "hash":
        return this.#hashing.go(this.#files, request);
      case "list":
        return listFolder(this.#files, request.folder, request.move);
      case "scripts":
        return this.#packages.runOne(request);
      case "value":
        return Promise.resolve(hashedValue(request.value));
    }
  }
}

async function change(files: WorkspaceFiles, request: ChangeRequest): Promise<ChangedContent> {
  const { path, made, wantsDiff } = request;
  const old = request.old === null ? null : await bytesOf(files, request.old);
  const content = made.from === "nothing" ? null : newContent(request, old);
  const diff = wantsDiff ? unifiedDiff({ before: path, after: path }, old, content) : undefined;
  return {
    before: old === null ? null : sha256(old),
    sizeBefore: old?.length ?? null,
    made: content === null ? null : { hash: sha256(content), bytes: content },
    ...(diff === undefined ? {} : { diff }),
    share: old === null || content === null ? 1 : changedShare(old, content),
    runs: isExecutable(0, old) || isExecutable(0, content),
  };
}

function newContent({ path, made }: ChangeRequest, old: Uint8Array | null): Uint8Array {
  if (made.from === "write") return contentOf(made.input);
  if (made.from === "content") return made.isJson ? readableJson(made.bytes) : made.bytes;
  if (made.from === "merge") return merged(path, made, old);
  if (made.from === "nothing" || old === null) throw invalidParams(`There is nothing to edit at ${path}.`);
  if (textOf(old) === null) {
    throw invalidParams(
      `${JSON.stringify(path)} is not UTF-8 text, so it cannot be edited. Use file.write with the whole content.`,
      { path },
    );
  }
  return applyEdits(path, old, made.edits);
}

/** Canonical JSON is a single line, so it is formatted again. */
function readableJson(bytes: Uint8Array): Uint8Array {
  const value: unknown = JSON.parse(new TextDecoder().decode(bytes));
  return new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`);
}

async function bytesOf(files: WorkspaceFiles, source: ContentSource): Promise<Uint8Array> {
  return "bytes" in source
    ? source.bytes
    : files.readFile(source.path, { maxBytes: actionLimits.previewFileBytes });
}

/** Hashes files in requests of `hashedPerRequestBytes` each. */
class Hashing {
  readonly #sums = new Map<number, Sha256Sum>();
  #nextId = 1;

  /** The hash is null if there is no file. */
  async go(files: WorkspaceFiles, { path, rest }: HashRequest): Promise<HashAnswer> {
    if ((await files.stat(path))?.kind !== "file") return { hash: null };
    const id = rest?.id ?? this.#nextId++;
    const sum = rest === null ? sha256Sum() : this.#sums.get(id);
    if (sum === undefined) return { lost: true };
    this.#sums.delete(id);
    let position = rest?.position ?? 0;
    const end = position + actionLimits.hashedPerRequestBytes;
    while (position < end) {
      const { bytes, eof } = await files.readRange(path, position, pieceBytes);
      sum.update(bytes);
      position += bytes.length;
      if (eof || bytes.length === 0) return { hash: `sha256:${hexOf(sum.digest())}` };
    }
    const oldest = this.#sums.keys().next();
    if (this.#sums.size >= maxUnfinished && oldest.done !== true) this.#sums.delete(oldest.value);
    this.#sums.set(id, sum);
    return { rest: { id, position } };
  }
}

/** The number of unfinished hashes; each agent that ends while planning leaves one behind. */
const maxUnfinished = 256;

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
