import type { WorkspaceEdit } from "vscode-languageserver";
import type { Clock } from "../../base/clock.ts";
import { isLaresError } from "../../base/errors.ts";
import { isJsonObject } from "../../base/json.ts";
import { positionAt } from "../../base/text-positions.ts";
import { waitUnlessAborted } from "../../base/wait.ts";
import { withPositions } from "../session/position-encoding.ts";
import { workspaceEdit } from "../language/workspace-edit.ts";
import type { Session } from "../session/session.ts";
import type { Insertion, OpenChat } from "./open-chat.ts";

/** Attempts to have one text inserted. An editor refuses one that was made for an older version of the file. */
const maxAttempts = 8;
/** After a refusal without a change of the text, the next attempt is made after this time. */
const retryMs = 250;
/** Editors report changes after they have answered, some only when the person pauses. */
const reportMs = 10_000;
/** Some editors ask the person whether to apply an edit. */
const answerMs = 600_000;

export type Outcome = "written" | "refused" | "gone";

interface Wanted extends Omit<Insertion, "at"> {
  readonly at: number;
}

/**
 * Has the client insert a text into an open chat file: inserts only, so that nothing that the person typed is replaced. The
 * text counts as written once the client's document has it, because some editors answer that an edit was applied and drop
 * it. The place is found again for every attempt.
 */
export async function insertInto(
  chat: OpenChat,
  session: Session,
  clock: Clock,
  /** Returns what to insert into the text as it is now. */
  wanted: (text: string) => Wanted,
  label: string,
): Promise<Outcome> {
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    if (!isPresent(chat, session)) return "gone";
    const insertion: Insertion = { ...wanted(chat.text) };
    chat.insertion = insertion;
    const changed = chat.changed;
    const answer = await apply(chat, session, insertion, label);
    if (answer === "unsupported") return "refused";
    if (answer === "gone") return "gone";
    if (chat.insertion !== insertion) return "written";
    await eitherOf(changedSince(chat, changed), clock, answer === "refused" ? retryMs : reportMs);
    if (chat.insertion !== insertion) return "written";
    // After "applied", it may still come: a second one would write it twice. After an error, the editor may have asked the
    // person, who does not want it; or it has changes that it has not reported.
    if (answer !== "refused" && chat.changed === changed) return "refused";
  }
  return "refused";
}

/** Returns the edit that inserts a text, in the client's positions. */
export function editOf(chat: OpenChat, session: Session, { at, text }: Insertion): WorkspaceEdit {
  const position = positionAt(chat.text, at);
  const edits = [{ range: { start: position, end: position }, newText: text }];
  const edit = workspaceEdit(session, [{ uri: chat.uri, edits }]);
  return withPositions(
    edit,
    chat.uri,
    session.positionEncoding,
    "to-client",
    () => chat.text,
  ) as WorkspaceEdit;
}

function isPresent(chat: OpenChat, session: Session): boolean {
  return session.trusted && session.documents.text(chat.uri) === chat.text;
}

async function apply(
  chat: OpenChat,
  session: Session,
  insertion: Insertion,
  label: string,
): Promise<"applied" | "refused" | "failed" | "unsupported" | "gone"> {
  try {
    const answer = await session.endpoint.request(
      "workspace/applyEdit",
      { label, edit: editOf(chat, session, insertion) },
      AbortSignal.timeout(answerMs),
    );
    return isJsonObject(answer) && answer["applied"] === true ? "applied" : "refused";
  } catch (error) {
    if (isLaresError(error, "MethodNotFound")) return "unsupported";
    return isLaresError(error, "Busy") ? "gone" : "failed";
  }
}

/** Resolves at the first change after `since` was current. */
function changedSince(chat: OpenChat, since: Promise<void>): Promise<void> {
  return chat.changed === since ? since : Promise.resolve();
}

async function eitherOf(event: Promise<void>, clock: Clock, ms: number): Promise<void> {
  const over = new AbortController();
  await Promise.race([event, waitUnlessAborted(clock, ms, over.signal)]);
  over.abort();
}
