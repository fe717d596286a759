/** Entry file of the folder lister's worker thread. */
import { parentPort, workerData } from "node:worker_threads";
import {
  factsPerName,
  kindNumbers,
  listerLimits,
  type ListedPiece,
  type ListerReply,
  type ListerRequest,
  type ListerWorkerData,
} from "./folder-lister-messages.ts";
import { openFolderReader } from "./folder-reader.ts";

interface Listing {
  readonly number: number;
  readonly components: readonly string[];
  /** Set when the folder was read. The names from index `at` on are not sent yet. */
  names: readonly string[] | null;
  at: number;
  text: string | null;
}

function serve(port: NonNullable<typeof parentPort>, data: ListerWorkerData): void {
  const send = (reply: ListerReply, transfer: ArrayBuffer[] = []): void => port.postMessage(reply, transfer);
  const reader = openFolderReader(data.root, (path, reason) => send({ kind: "unreadable", path, reason }));
  const queue: Listing[] = [];
  let next = 0;
  let ahead = 0;
  let turn: NodeJS.Immediate | null = null;

  const soon = (): void => {
    if (next < queue.length && ahead < listerLimits.namesAhead) turn ??= setImmediate(takeTurn);
  };
  port.on("message", (request: ListerRequest) => {
    if (request.kind === "taken") ahead -= request.entries;
    else
      for (const [number, components] of request.folders)
        queue.push({ number, components, names: null, at: 0, text: null });
    soon();
  });

  /** Fills one message, sends it, and then lets new requests arrive. */
  function takeTurn(): void {
    turn = null;
    const pieces: ListedPiece[] = [];
    const facts = new Float64Array(listerLimits.namesPerMessage * factsPerName);
    let count = 0;
    while (next < queue.length && count < listerLimits.namesPerMessage) {
      const listing = queue[next];
      if (listing === undefined) break;
      const piece = pieceOf(listing, facts, count);
      pieces.push(piece);
      count += piece.count;
      if (piece.isLast) next++;
      // Empty folders add no names, so pieces are limited as well.
      if (pieces.length >= listerLimits.namesPerMessage) break;
    }
    // No folder is held open between turns, so that others can rename them.
    reader.release();
    if (next > 1024) queue.splice(0, next);
    if (queue.length === 0 || next > 1024) next = 0;
    ahead += count;
    const used = facts.slice(0, count * factsPerName);
    send({ kind: "listed", pieces, facts: used }, [used.buffer]);
    soon();
  }

  function pieceOf(listing: Listing, facts: Float64Array, offset: number): ListedPiece {
    const { number, components } = listing;
    const isFirst = listing.names === null;
    const failed: ListedPiece = {
      number,
      names: null,
      count: 0,
      isLast: true,
      inode: 0,
      device: 0,
      text: null,
    };
    const folder = reader.open(components);
    const itself = folder?.observe(".") ?? null;
    if (folder === null || itself === null || itself === "unreadable") return failed;
    if (listing.names === null) {
      const names = folder.names();
      if (names === null) return failed;
      if (names.includes(data.textName)) {
        const bytes = folder.readBytes(data.textName, data.textBytes);
        if (bytes === "unreadable") listing.text = data.textOfUnreadable;
        else listing.text = bytes === null ? null : new TextDecoder().decode(bytes);
      }
      listing.names = data.hidden ? names : names.filter((name) => !name.startsWith("."));
    }
    const names = listing.names.slice(listing.at, listing.at + listerLimits.namesPerMessage - offset);
    listing.at += names.length;
    reader.observeAll(names).forEach((observed, index) => {
      const at = (offset + index) * factsPerName;
      if (observed === null || observed === "unreadable") {
        facts[at] = observed === null ? kindNumbers.missing : kindNumbers.unreadable;
        return;
      }
      facts[at] = kindNumbers[observed.kind];
      facts[at + 1] = observed.size;
      facts[at + 2] = observed.mtimeMs;
      facts[at + 3] = observed.birthtimeMs;
      facts[at + 4] = observed.inode;
      facts[at + 5] = observed.device;
    });
    return {
      number,
      names: names.join("/"),
      count: names.length,
      isLast: listing.at >= listing.names.length,
      inode: itself.inode,
      device: itself.device,
      text: isFirst ? listing.text : null,
    };
  }
}

if (parentPort === null)
  throw new Error("This file runs as a worker thread; start it with openFolderLister().");
// openFolderLister() passes data of this type.
serve(parentPort, workerData as ListerWorkerData);
