import type { Caller } from "../../../agents/ports.ts";
import { unlessAborted } from "../../../base/abort.ts";
import { isLaresError } from "../../../base/errors.ts";
import { OneAtATime } from "../../../base/one-at-a-time.ts";
import { maxReadBytes } from "../../../base/vocabulary/bounds.ts";
import { entrySeenBy } from "../../../policy/hearing.ts";
import { canonicalPath } from "../../../policy/paths.ts";
import { createSight, type Sight } from "../../../policy/sight.ts";
import type { GuestServices } from "../../../protocol/guest/v1/calls.ts";
import type { vdfsCalls } from "../../../protocol/guest/v1/vdfs.ts";
import type { Workspace } from "../../../workspace/ports.ts";

export interface VdfsPorts {
  readonly workspace: Workspace;
  /** Throws ScopeViolation if the path is a link or below one. */
  refuseLink(path: string): Promise<void>;
}

/** The guest ABI's `vdfs/*`: entries and files, as far as the caller sees them. */
export function vdfsServices({
  workspace,
  refuseLink,
}: VdfsPorts): Pick<GuestServices<Caller>, keyof typeof vdfsCalls> {
  const sightOf = ({ authority }: Caller): Sight => createSight(authority, workspace.view);
  // Searches share the event loop in slices: an agent with 64 searches gets one agent's share.
  const searches = new OneAtATime();
  const search = <Found>({ agent, signal }: Caller, run: (signal: AbortSignal) => Promise<Found>) =>
    unlessAborted(
      searches.run(agent, () => {
        signal.throwIfAborted();
        return run(signal);
      }),
      signal,
    );

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
      const wanted = canonical(path);
      const sight = sightOf(caller);
      const reading = workspace.read(wanted, offset, length, sight.seesEntry);
      const { bytes, eof } = await reading.catch(async (error: unknown) => {
        // A link is not an entry. An agent that could see a file with this name is told the reason.
        if (isLaresError(error, "NotFound") && sight.sees(wanted)) await refuseLink(wanted);
        throw error;
      });
      return {
        base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64"),
        eof,
      };
    },
    "vdfs/sidecar/read": async (caller, { path, sidecar }) => {
      const entry = workspace.get({ path: canonical(path) }, sightOf(caller).seesEntry);
      return entry === null ? null : workspace.readSidecar(entry.path, sidecar);
    },
    "vdfs/copies": async (caller, { content_id }) => workspace.copies(content_id, sightOf(caller).seesEntry),
  };
}

/** Policy has already refused every path without a canonical form. */
function canonical(path: string): string {
  const result = canonicalPath(path);
  return result.ok ? result.path : path;
}
