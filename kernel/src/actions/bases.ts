import type { Hash } from "../base/vocabulary/common.ts";
import type { MetadataChange } from "../base/vocabulary/metadata.ts";
import type { ActionRecord } from "./ledger.ts";
import { slotOf } from "./metadata.ts";

/** What an action begins from at one path. */
export type Base =
  /** A file with this content; null: nothing. */
  | { readonly is: "content"; readonly path: string; readonly hash: Hash | null }
  /** A folder that is moved. */
  | { readonly is: "folder"; readonly path: string }
  /** Anything but a file: a folder is made here. */
  | { readonly is: "way"; readonly path: string }
  /** A value beside an entry. A tag is either there or not, so its `hash` is not looked at: the entry has to be there. */
  | {
      readonly is: "value";
      readonly path: string;
      readonly change: MetadataChange;
      readonly hash: Hash | null;
    };

/**
 * Returns the state of the workspace that the action begins from, as far as its agent could see it. The results of
 * earlier effects of the same action are not bases. A hidden base is left to the commit: an action that went stale
 * because of a hidden file would tell its agent when that file changes.
 */
export function basesOf({ operations, told }: Pick<ActionRecord, "operations" | "told">): Base[] {
  const bases: Base[] = [];
  const looked = new Set<string>();
  const slots = new Set<string>();
  for (const [index, operation] of operations.entries()) {
    const isUnseen = told?.unseen.includes(index) === true;
    const first = (base: Base): void => {
      const isKnown = looked.has(base.path);
      looked.add(base.path);
      if (!isKnown && !isUnseen) bases.push(base);
    };
    switch (operation.do) {
      case "put":
      case "remove":
        if (operation.do === "remove" && operation.remains !== undefined)
          first({ is: "content", path: operation.remains, hash: operation.before });
        first({ is: "content", path: operation.path, hash: operation.before });
        break;
      case "move":
        if (operation.kind === "folder") {
          // The agent sees the folder itself, whatever may be hidden in it.
          looked.add(operation.from).add(operation.to);
          bases.push({ is: "folder", path: operation.from });
          break;
        }
        first({ is: "content", path: operation.from, hash: operation.content });
        first({ is: "content", path: operation.to, hash: null });
        break;
      case "mkdir":
        first({ is: "way", path: operation.path });
        break;
      case "rmdir":
        break;
      case "metadata": {
        const { change, before } = operation;
        const slot = slotOf(change);
        if (!slots.has(slot) && !isUnseen)
          bases.push({ is: "value", path: change.path, change, hash: before });
        slots.add(slot);
        break;
      }
    }
  }
  return bases;
}
