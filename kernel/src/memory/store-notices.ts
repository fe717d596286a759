import { messageOf } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { StoreNotice } from "../memory-contract/store-port.ts";
import { ownerOf } from "./memory-key.ts";

type Notice = Exclude<StoreNotice, { kind: "log" }>;

interface NoticePorts {
  readonly log: Log;
  /** Tells the person something about an agent's memory. */
  warn(agent: string, message: string): void;
  progress(
    news: { readonly work: string } & (
      | { readonly kind: "begin"; readonly title: string }
      | { readonly kind: "report"; readonly message: string; readonly percentage: number }
      | { readonly kind: "end"; readonly message: string }
    ),
  ): void;
}

const titles = {
  projections: "preparing memory",
  embeddings: "embedding knowledge",
  index: "building the vector index",
} as const;

/** Turns the store host's notices into log entries, traces and progress. */
export function storeNotices({ log, warn, progress }: NoticePorts): (notice: Notice) => void {
  const begun = new Set<string>();
  return (notice) => {
    switch (notice.kind) {
      case "rebuilt":
        log.warn(`A memory's ${notice.what} were rebuilt from its journal.`, {
          memory: notice.memory,
          reason: notice.reason,
        });
        warn(
          ownerOf(notice.memory) ?? notice.memory,
          `its memory's ${notice.what} were rebuilt from the journal: ${notice.reason}`,
        );
        return;
      case "progress": {
        const { memory, what, done, total } = notice;
        const work = `memory/${memory}/${what}`;
        if (!begun.has(work)) {
          begun.add(work);
          progress({ work, kind: "begin", title: `Lares: ${titles[what]} (${memory})` });
        }
        if (done < total) {
          const percentage = Math.floor((done / total) * 100);
          progress({ work, kind: "report", message: `${done} of ${total}`, percentage });
          return;
        }
        begun.delete(work);
        progress({ work, kind: "end", message: `${total}` });
        return;
      }
      default:
        log.error(`An unknown notice of the store host: ${messageOf(notice satisfies never)}`);
    }
  };
}
