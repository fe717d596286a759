import type {
  maxActionTitle,
  maxReadBytes as kernelMaxReadBytes,
} from "../../../../kernel/src/base/vocabulary/bounds.ts";
import { LaresError } from "../errors.ts";
import type { Action, EffectInput } from "../types/action.ts";
import type { CallOptions } from "../types/call.ts";
import type { Vdfs } from "../types/context.ts";
import type { Hash } from "../types/entry.ts";
import { bytesOfBlob } from "./blobs.ts";
import { bytesOf, joined } from "./bytes.ts";
import { type Kernel, withSignal } from "./kernel.ts";

/** The kernel's bounds. Only their types come from the kernel: a guest carries none of its code. */
const maxReadBytes: typeof kernelMaxReadBytes = 262_144;
const maxTitleCharacters: typeof maxActionTitle = 200;
/** The error for an action of one effect that ended without being carried out. */
const refusals: Partial<Record<Action["state"], "PermissionDenied" | "StorageError" | "Stale">> = {
  Rejected: "PermissionDenied",
  Failed: "StorageError",
  Stale: "Stale",
};

export function makeVdfs(kernel: Kernel, fieldNamespace: () => string): Vdfs {
  /** Proposes an action of one effect; throws if it was refused. */
  const change = async (effect: EffectInput, title: string): Promise<Action> => {
    const action = await kernel.call("actions/propose", {
      effects: [effect],
      title: title.length > maxTitleCharacters ? `${title.slice(0, maxTitleCharacters - 1)}…` : title,
      reason: "",
    });
    const code = refusals[action.state];
    if (code !== undefined)
      throw new LaresError(code, action.error ?? `${title}: refused.`, { action: action.id });
    return action;
  };
  const read: Vdfs["read"] = async (path, { offset = 0, length = Number.POSITIVE_INFINITY, signal } = {}) => {
    const pieces: Uint8Array[] = [];
    let size = 0;
    for (;;) {
      const { base64, eof } = await kernel.call(
        "vdfs/read",
        { path, offset: offset + size, length: Math.min(maxReadBytes, length - size) },
        withSignal(signal),
      );
      const piece = bytesOf(base64);
      pieces.push(piece);
      size += piece.length;
      if (eof || piece.length === 0 || size >= length) return joined(pieces, size);
    }
  };
  const readText: Vdfs["readText"] = async (path, options) =>
    new TextDecoder().decode(await read(path, options));
  return {
    query: (query = {}, options) => kernel.call("vdfs/query", { ...query }, options),
    count: async (query = {}, options) => (await kernel.call("vdfs/count", { ...query }, options)).count,
    get: (path, options) =>
      kernel.call("vdfs/get", typeof path === "string" ? { path } : { id: path.id }, options),
    read,
    thumbnail: async (path, { maxPx, format, signal }) => {
      const params = { path, max_px: maxPx, format };
      const {
        width,
        height,
        base64 = "",
        blob,
      } = await kernel.call("vdfs/thumbnail", params, withSignal(signal));
      const bytes = blob === undefined ? bytesOf(base64) : await bytesOfBlob(kernel, blob);
      return { width, height, bytes };
    },
    readText,
    readJson: async (path, options) => JSON.parse(await readText(path, options)),
    copies: (contentId, options) => kernel.call("vdfs/copies", { content_id: contentId as Hash }, options),
    tags: {
      add: (path, tag) => change({ kind: "tag.add", path, tag }, `Tag ${path} with ${tag}`),
      remove: (path, tag) => change({ kind: "tag.remove", path, tag }, `Remove the tag ${tag} from ${path}`),
    },
    fields: {
      set: (path, key, value) =>
        change({ kind: "field.set", path, namespace: fieldNamespace(), key, value }, `Set ${key} of ${path}`),
    },
    sidecar: {
      read: async <Data>(path: string, kind: string, options?: CallOptions) => {
        const params = { path, sidecar: kind };
        const found = await kernel.call("vdfs/sidecar/read", params, options);
        return found === null ? null : (found.data as Data);
      },
      write: (path, kind, data) =>
        change({ kind: "sidecar.write", path, sidecar: kind, data }, `Write the sidecar ${kind} of ${path}`),
    },
  };
}
