import type { InlayHint } from "vscode-languageserver";
import { plainLine } from "../../base/plain-text.ts";
import type { Services } from "../../services/ports.ts";
import type { StandardHandlers } from "../session/standard-requests.ts";
import { documentRangeOf } from "../session/params.ts";

/** `textDocument/inlayHint` in manifests: explains each schedule and shows its next run. */
export function inlayHintHandlers({ authoring }: Services): StandardHandlers {
  return {
    "textDocument/inlayHint": async (params, session): Promise<InlayHint[] | null> => {
      const place = documentRangeOf(params);
      const text = place === null ? null : session.documents.text(place.uri);
      if (place === null || text === null) return null;
      const hints = await authoring.inlayHints({ uri: place.uri, text }, place.range);
      return hints.map(({ position, label, tooltip }) => ({
        position,
        label: plainLine(label),
        tooltip: tooltip.map(plainLine).join("\n"),
        paddingLeft: true,
      }));
    },
  };
}
