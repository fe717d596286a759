import type { Caller } from "../../agents/ports.ts";
import { unlessAborted } from "../../base/abort.ts";
import { isLaresError } from "../../base/errors.ts";
import { OneAtATime } from "../../base/one-at-a-time.ts";
import { maxInlineBytes, maxReadBytes, maxWaitingCalls } from "../../base/vocabulary/bounds.ts";
import { entrySeenBy } from "../../policy/hearing.ts";
import { canonicalPath } from "../../policy/paths.ts";
import { createSight, type Sight } from "../../policy/sight.ts";
import type { GuestServices } from "../../protocol/guest/v1/calls.ts";
import type { vdfsCalls } from "../../protocol/guest/v1/vdfs.ts";
import type { ThumbnailsOfAgents, WorkspaceOfAgents } from "./ports.ts";

export interface VdfsPorts {
  readonly workspace: WorkspaceOfAgents;
  readonly thumbnails: ThumbnailsOfAgents;
  /** Throws ScopeViolation if the path is a link or below one. */
  refuseLink(path: string): Promise<void>;
}

/** The guest ABI's `vdfs/*`: entries and files, as far as the caller sees them. */
export function vdfsServices({
  workspace,
  thumbnails,
  refuseLink,
}: VdfsPorts): Pick<GuestServices<Caller>, keyof typeof vdfsCalls> {
  const sightOf = ({ authority }: Caller): Sight => createSight(authority, workspace.view);
  // Searches share the event loop in slices: an agent with 64 searches gets one agent's share.
  const searches = new OneAtATime({ limit: "waitingCalls", most: maxWaitingCalls });
  const search = <Found>({ agent, signal }: Caller, run: (signal: AbortSignal) => Promise<Found>) =>
    unlessAborted(
      searches.run(
        agent,
        () => {
          signal.throwIfAborted();
          return run(signal);
        },
        () => !signal.aborted,
      ),
      signal,
    );
  /** All that agents read of files' contents passes here. */
  const readPiece = async (
    caller: Caller,
    path: string,
    offset: number,
    length: number,
  ): Promise<{ bytes: Uint8Array; eof: boolean }> => {
    const sight = sightOf(caller);
    try {
      return await workspace.read(path, offset, length, sight.seesEntry);
    } catch (error) {
      // A link is not an entry. An agent that could see a file with this name is told the reason.
      if (isLaresError(error, "NotFound") && sight.sees(path)) await refuseLink(path);
      throw error;
    }
  };

  return {
    "vdfs/query": async (caller, query) => {
      const { seesEntry, reach } = sightOf(caller);
      const page = await search(caller, (signal) => workspace.query(query, seesEntry, reach, signal));
      return { ...page, items: page.items.map((entry) => entrySeenBy(caller.authority, entry)) };
    },
    "vdfs/count": async (caller, query) => {
      const { seesEntry, reach } = sightOf(caller);
      return { count: await search(caller, (signal) => workspace.count(query, seesEntry, reach, signal)) };
    },
    "vdfs/get": async (caller, reference) => {
      const wanted = "path" in reference ? { path: canonical(reference.path) } : reference;
      const entry = workspace.get(wanted, sightOf(caller).seesEntry);
      return entry === null ? null : entrySeenBy(caller.authority, entry);
    },
    "vdfs/read": async (caller, { path, offset = 0, length = maxReadBytes }) => {
      const { bytes, eof } = await readPiece(caller, canonical(path), offset, length);
      return { base64: base64Of(bytes), eof };
    },
    "vdfs/thumbnail": async (caller, { path, max_px, format }) => {
      const wanted = canonical(path);
      const { width, height, bytes } = await thumbnails.make({
        agent: caller.agent,
        path: wanted,
        read: (offset) => readPiece(caller, wanted, offset, maxReadBytes),
        maxPx: max_px,
        format,
        signal: caller.signal,
      });
      const content =
        bytes.length <= maxInlineBytes ? { base64: base64Of(bytes) } : { blob: caller.blobs.write(bytes) };
      return { width, height, ...content };
    },
    "vdfs/sidecar/read": async (caller, { path, sidecar }) => {
      const entry = workspace.get({ path: canonical(path) }, sightOf(caller).seesEntry);
      return entry === null ? null : workspace.readSidecar(entry.path, sidecar);
    },
    "vdfs/copies": async (caller, { content_id }) => workspace.copies(content_id, sightOf(caller).seesEntry),
  };
}

function base64Of({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}

/** Policy has already refused every path without a canonical form. */
function canonical(path: string): string {
  const result = canonicalPath(path);
  return result.ok ? result.path : path;
}
