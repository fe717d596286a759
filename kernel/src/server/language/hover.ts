import type { Hover } from "vscode-languageserver";
import type { Services } from "../../services/ports.ts";
import type { StandardHandlers } from "../session/standard-requests.ts";
import { markup } from "./markup.ts";
import { capability, documentPositionOf } from "../session/params.ts";

/** `textDocument/hover` in the documents that Lares reads. */
export function hoverHandlers({ authoring }: Services): StandardHandlers {
  return {
    "textDocument/hover": async (params, session): Promise<Hover | null> => {
      const place = documentPositionOf(params);
      const text = place === null ? null : session.documents.text(place.uri);
      if (place === null || text === null) return null;
      const answer = await authoring.hover({ uri: place.uri, text }, place.position);
      if (answer === null) return null;
      const formats = capability(session, "textDocument", "hover", "contentFormat");
      const isMarkdown = Array.isArray(formats) && formats.includes("markdown");
      return { contents: markup(answer.explanation, isMarkdown), range: answer.range };
    },
  };
}
