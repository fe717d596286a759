import { isoTime } from "../base/clock.ts";
import type { Entry } from "../base/vocabulary/entry.ts";
import { extensionOf, mediaTypeOf } from "./media-types.ts";
import { pathOf, type EntryNode, type Metadata } from "./tree.ts";

/** Returns the entry as other rooms see it: a snapshot, safe to keep. */
export function entryOf(
  node: EntryNode,
  path: string = pathOf(node),
  metadata: Metadata = node.metadata,
): Entry {
  const extension = node.kind === "file" ? extensionOf(node.name) : "";
  const { media, mime } = mediaTypeOf(node.kind, extension);
  return {
    id: node.id,
    path,
    name: node.name,
    kind: node.kind,
    media,
    extension,
    mime,
    size: node.size,
    created: timeOf(node.birthtimeMs > 0 ? node.birthtimeMs : node.mtimeMs),
    modified: timeOf(node.mtimeMs),
    content_id: node.contentId,
    tags: [...metadata.tags],
    fields: metadata.fields,
    sidecars: [...metadata.sidecars.keys()].toSorted(),
    location: ".",
  };
}

let lastSecond = 0;
let lastSecondText = isoTime(0).slice(0, -4);

/** Neighbouring files were often written in the same second, so the text of the last second is cached. */
function timeOf(epochMs: number): string {
  const second = Math.floor(epochMs / 1000);
  if (second !== lastSecond) {
    // File systems store times that no calendar has; such a time becomes the nearest that can be formatted.
    const furthest = 8.64e12;
    lastSecondText = isoTime(Math.max(-furthest, Math.min(furthest, second)) * 1000).slice(0, -4);
    lastSecond = second;
  }
  const ms = Math.floor(epochMs) - second * 1000;
  return `${lastSecondText}${ms < 10 ? "00" : ms < 100 ? "0" : ""}${ms}Z`;
}
