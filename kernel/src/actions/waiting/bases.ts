import type { Hash } from "../../base/vocabulary/common.ts";
import type { MetadataChange } from "../../base/vocabulary/metadata.ts";
import type { ActionRecord } from "../action-record.ts";
import { slotOf } from "../metadata.ts";

/** The state of one path that an action was planned for. */
export type Base =
  /** A file with this content; null if there is no file. */
  | { readonly is: "content"; readonly path: string; readonly hash: Hash | null }
  /** A folder that the action moves. */
  | { readonly is: "folder"; readonly path: string }
  /** A path at which the action creates a folder: anything but a file may be there. */
  | { readonly is: "way"; readonly path: string }
  /**
   * Metadata of an entry. The `hash` of a tag is ignored, because a tag is either present or not; the entry must exist.
   */
  | {
      readonly is: "value";
      readonly path: string;
      readonly change: MetadataChange;
      readonly hash: Hash | null;
    };

/**
 * Returns the bases of an action: the state of the workspace that it was planned for, as far as its agent could see it.
 * Results of earlier effects of the same action are not bases. Hidden paths are only compared by the commit: if a
 * hidden file made an action stale, its agent would learn when that file changes.
 */
export function basesOf({ operations, agentView }: Pick<ActionRecord, "operations" | "agentView">): Base[] {
  const bases: Base[] = [];
  const looked = new Set<string>();
  const slots = new Set<string>();
  for (const [index, operation] of operations.entries()) {
    const isUnseen = agentView?.unseen.includes(index) === true;
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
          // The agent sees the folder itself, even if something in it is hidden.
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
